import type { Socket } from "node:net";
import { limits } from "@atlasqueue/contract";

/** What may follow an answer of the body that it was not for: more than any body may have. */
const bytes_max = 2 * limits.error_body_bytes_max;
const look_ms = 100;

/**
 * Disconnects who goes on sending a body without an end after it was answered: what comes is read and thrown away, which
 * keeps the loop from those who are answered. Node hands over none of it, so it is counted on the connections, on all of
 * them in one look.
 *
 * @example
 * const discarded = createDiscarded();
 * discarded.begin(socket);
 */
export function createDiscarded(): { begin(socket: Socket): void; over(socket: Socket): void } {
  const read_before = new Map<Socket, number>();
  let looks: NodeJS.Timeout | undefined;
  const look = () => {
    for (const [socket, before] of read_before) if (socket.bytesRead - before > bytes_max) socket.destroy();
  };
  return {
    begin(socket) {
      read_before.set(socket, socket.bytesRead);
      looks ??= setInterval(look, look_ms);
    },
    over(socket) {
      read_before.delete(socket);
      if (read_before.size > 0) return;
      clearInterval(looks);
      looks = undefined;
    },
  };
}
