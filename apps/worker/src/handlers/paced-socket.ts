import type { Socket } from "node:net";
import { Duplex } from "node:stream";

export type PacedSocket = {
  paced: Duplex;
  /** From now on what is read is passed on as it comes, and so nothing is lost when the connection breaks behind it. */
  atOnce(): void;
};

/**
 * What a socket reads, passed on piece by piece when it is each one's turn; what is written goes to it at once. What the
 * reader makes of a piece, such as all the arithmetic that a TLS handshake has in it, is done within its turn. `take` is
 * given that work and returns what drops it: nothing is left to do once either side is closed.
 *
 * @example
 * const { paced, atOnce } = pacedSocket(plain, (work) => turns.take({ tenant, host }, work));
 * tls.connect({ socket: paced }).once("secureConnect", atOnce);
 */
export function pacedSocket(plain: Socket, take: (work: () => void) => () => void): PacedSocket {
  let drop = (): void => {};
  let waits = false;
  let at_once = false;
  const paced = new Duplex({
    // A piece comes when its turn has come: see `pass`.
    read() {},
    // Together: a piece that is written by itself may meet a reset, and so end the reading, before the answer was read.
    writev: (pieces, done) => void plain.write(Buffer.concat(pieces.map(({ chunk }) => chunk as Buffer)), done),
    final: (done) => void plain.end(done),
    destroy(error, done) {
      drop();
      plain.destroy();
      done(error);
    },
  });
  const pass = (chunk: Buffer): void => {
    if (plain.destroyed) return;
    drop = take(() => {
      // Pushed now, it would be read at some other time, in nobody's turn.
      if (!paced.readableFlowing) return void paced.once("resume", () => pass(chunk));
      waits = false;
      paced.push(chunk);
      if (plain.readableEnded) paced.push(null);
      else plain.resume();
    });
  };
  // Otherwise it would close at its end, before what it brought last was read.
  plain.allowHalfOpen = true;
  plain.on("data", (chunk: Buffer) => {
    if (at_once) return void paced.push(chunk);
    waits = true;
    // For the next piece; the end may come nevertheless.
    plain.pause();
    pass(chunk);
  });
  plain.once("end", () => waits || paced.push(null));
  plain.once("error", (error) => paced.destroy(error));
  plain.once("close", () => paced.destroy());
  return { paced, atOnce: () => void (at_once = true) };
}
