import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

/** A connection that says exactly what a test wants, which no HTTP client would. */
export async function rawSocket(port: number) {
  // Else Node drops what it has not sent yet as soon as the server has said all it wants to say.
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.setNoDelay(true);
  socket.on("error", () => {});
  await once(socket, "connect");
  const answer = text(socket).catch(() => "");
  void answer.then(() => socket.end());
  return {
    write: (data: string | Uint8Array) => socket.write(data),
    /** Resolves when the system has taken it all; rejects when the server broke the connection before that. */
    writeAll: (data: string) =>
      new Promise<void>((resolve, reject) => socket.write(data, (error) => (error ? reject(error) : resolve()))),
    /** False when the server has hung up. */
    isOpen: () => socket.writable && !socket.destroyed,
    /** Everything the server said; resolves when it ends the connection. */
    answer,
    end: () => socket.end(),
  };
}
