import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection that sends exactly what a test wants, which no HTTP client would. */
export async function rawSocket(port: number) {
  // Otherwise Node drops what it has not sent yet as soon as the server has finished.
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.setNoDelay(true);
  socket.on("error", () => {});
  await once(socket, "connect");
  const chunks: Buffer[] = [];
  const answer = allOf(socket, chunks);
  void answer.then(() => socket.end());
  return {
    write: (data: string | Uint8Array) => socket.write(data),
    /** Resolves when the system has taken it all; rejects when the server broke the connection before that. */
    writeAll: (data: string) =>
      new Promise<void>((resolve, reject) => socket.write(data, (error) => (error ? reject(error) : resolve()))),
    /** False when the server has hung up. */
    isOpen: () => socket.writable && !socket.destroyed,
    /** What it has said until now. */
    heard: () => Buffer.concat(chunks).toString(),
    /** Everything the server said; resolves when it ends the connection, or breaks it. */
    answer,
    end: () => socket.end(),
  };
}

/** Everything that came, even if the connection broke after it: a server may refuse and then take no more. */
function allOf(socket: Socket, chunks: Buffer[]): Promise<string> {
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    const tell = () => resolve(Buffer.concat(chunks).toString());
    socket.once("end", tell).once("close", tell);
  });
}

/** Send once, and read until the server hangs up. */
export async function say(port: number, data: string | Uint8Array): Promise<string> {
  const socket = await rawSocket(port);
  socket.write(data);
  return socket.answer;
}

/** @example rawPost("Content-Length: 12", '{"type":"a"}'); */
export const rawPost = (headers: string, content: string) =>
  `POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${content}`;
