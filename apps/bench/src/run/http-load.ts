import { connect, type Socket } from "node:net";

type Load = {
  url: string;
  connections: number;
  /** The whole body of request number `n`. */
  bodyOf(n: number): string;
  /** Whether one more request may be sent. */
  goOn(sent: number): boolean;
};

/**
 * POST /v1/jobs over a number of keep-alive connections, each one request at a time, each with its own key. Resolves
 * with how many were answered; any answer but 201 rejects. Plain sockets leave the cores to the server: existing
 * clients cost more than the API, and would hide the difference being measured.
 */
export async function loadOverHttp({ url, connections, bodyOf, goOn }: Load): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const run = Math.random().toString(36).slice(2);
  let sent = 0;
  let answered = 0;
  const next = (): string | undefined => {
    if (!goOn(sent)) return undefined;
    const n = sent++;
    const body = bodyOf(n);
    return (
      `POST /v1/jobs HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
      `idempotency-key: ${run}-${n}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    );
  };
  const sockets: Socket[] = [];
  try {
    await Promise.all(
      Array.from({ length: connections }, () => {
        const socket = connect(Number(port), hostname);
        sockets.push(socket);
        return useConnection(socket, next, () => void (answered += 1));
      }),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  return answered;
}

function useConnection(socket: Socket, next: () => string | undefined, answered: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = "";
    const send = () => {
      const request = next();
      if (request === undefined) resolve();
      else socket.write(request);
    };
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.once("connect", send);
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the server closed a connection")));
    socket.on("data", (data: string) => {
      received += data;
      if (!isWhole(received)) return;
      if (!received.startsWith("HTTP/1.1 201 ")) return reject(new Error(`an answer of ${received.slice(0, 300)}`));
      received = "";
      answered();
      send();
    });
  });
}

const lengthHeader = /\r\ncontent-length: (\d+)/i;

/** A whole answer, as the servers here send it: with its length, or in chunks. */
function isWhole(received: string): boolean {
  const head_length = received.indexOf("\r\n\r\n");
  if (head_length === -1) return false;
  const length = lengthHeader.exec(received.slice(0, head_length))?.[1];
  if (length === undefined) return received.endsWith("\r\n0\r\n\r\n");
  return received.length >= head_length + 4 + Number(length);
}
