import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

/** A connection that says exactly what a test wants, which no HTTP client would. */
export async function rawSocket(port: number) {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  socket.on("error", () => {});
  await once(socket, "connect");
  const answer = text(socket).catch(() => "");
  return {
    write: (data: string | Uint8Array) => socket.write(data),
    /** False when the server has hung up. */
    isOpen: () => socket.writable && !socket.destroyed,
    /** Everything the server said; resolves when it ends the connection. */
    answer,
    end: () => socket.end(),
  };
}
