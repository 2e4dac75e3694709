import { Socket } from "node:net";

/** A socket of the pool. `excuse()` counts as an answer: the server is known to be busy with the query. */
export type WatchedSocket = Socket & { excuse(): void };

/** Its driver says whether it is waiting. */
type Watch = { silence_ms_max: number; isWaiting: () => boolean };

const looks_max = 4;

/**
 * A socket that closes itself when an answer is waited for and nothing came for `silence_ms_max`. A server that is
 * stopped or cut off without a TCP reset would otherwise keep its pool entry forever. Watches the raw socket, as the
 * driver replaces its listeners when it starts TLS. Counts looks, not time: after a pause of the event loop the timer
 * runs before the socket is read, and an answer already waiting there must not be taken for silence.
 */
export function openSocket(to: { host: string; port: number }, { silence_ms_max, isWaiting }: Watch): WatchedSocket {
  const socket = new Socket();
  let read = 0;
  let silent_looks = 0;
  const watch = setInterval(() => {
    if (socket.bytesRead !== read || !isWaiting()) {
      read = socket.bytesRead;
      silent_looks = 0;
      return;
    }
    silent_looks += 1;
    if (silent_looks > looks_max)
      socket.destroy(
        Object.assign(new Error(`no answer from the database in ${silence_ms_max} ms`), { code: "ETIMEDOUT" }),
      );
  }, silence_ms_max / looks_max);
  watch.unref();
  // The driver removes "close" listeners too, so the watch ends itself with the socket.
  const destroy = socket._destroy.bind(socket);
  socket._destroy = (error, done) => {
    clearInterval(watch);
    destroy(error, done);
  };
  socket.setNoDelay(true);
  // The driver takes the TLS server name from here.
  Object.assign(socket, to);
  // A dial may fail before it returns. By then the driver listens, and nothing is written before.
  setImmediate(() => {
    if (socket.destroyed) return;
    if (to.host.startsWith("/")) socket.connect(`${to.host}/.s.PGSQL.${to.port}`);
    else socket.connect(to.port, to.host);
  });
  return Object.assign(socket, { excuse: () => void (silent_looks = 0) });
}
