import { connect, type Socket } from "node:net";

export type HttpConnection = {
  /** One POST with a JSON body; resolves with the answer's body. Rejects for any status but 200 and 201. One at a time. */
  post(path: string, body: string): Promise<string>;
  close(): void;
};

/**
 * A keep-alive connection that costs next to nothing compared with the server: whole answers with a length, as our API
 * sends them.
 *
 * @example
 * const connection = await openHttpConnection("http://127.0.0.1:8000");
 * const jobs = JSON.parse(await connection.post("/v1/queues/default/lease", body));
 */
export async function openHttpConnection(url: string): Promise<HttpConnection> {
  const { hostname, port, host } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  let waiting: { resolve(body: string): void; reject(error: Error): void } | undefined;
  let parts: Buffer[] = [];
  let missing = -1;
  const settle = (act: (one: NonNullable<typeof waiting>) => void) => {
    const one = waiting;
    waiting = undefined;
    parts = [];
    missing = -1;
    if (one) act(one);
  };
  const fail = (error: Error) => settle(({ reject }) => reject(error));
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the server closed a connection")));
  socket.on("data", (data: Buffer) => {
    parts.push(data);
    if (missing === -1) {
      const received = Buffer.concat(parts);
      const head_length = received.indexOf("\r\n\r\n");
      if (head_length === -1) return;
      const head = received.toString("latin1", 0, head_length);
      if (!/^HTTP\/1\.1 20[01] /.test(head))
        return fail(new Error(`an answer of ${received.toString("latin1", 0, 300)}`));
      const body = received.subarray(head_length + 4);
      parts = [body];
      missing = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]) - body.length;
    } else missing -= data.length;
    if (missing <= 0) {
      const body = Buffer.concat(parts).toString("utf8");
      settle(({ resolve }) => resolve(body));
    }
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return {
    post: (path, body) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
            `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        );
      }),
    close: () => socket.destroy(),
  };
}
