import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";

/** How long an answer may pause and still count as arriving. */
const arriving_ms = 20;

/**
 * Call `late` when `ms` have passed and no answer is on its way. After a pause of the event loop, timers run before
 * sockets are read or written, so a timer that fires looks once more: it lets the loop read what has come, gives back
 * the time by which it was itself late, and keeps waiting while more arrives, for at most another `ms`. The returned
 * function stops it.
 *
 * @example
 * const stop = onDeadline(10_000, () => socket.bytesRead, () => reject(new DatabaseTimeoutError(10_000)));
 */
export function onDeadline(ms: number, bytesRead: () => number, late: () => void): () => void {
  const due = performance.now() + ms;
  let stopped = false;
  const look = async (): Promise<void> => {
    const woken = performance.now();
    let until = woken + Math.max(arriving_ms, Math.min(woken - due, ms));
    while (!stopped) {
      const read = bytesRead();
      await delay(arriving_ms / 4);
      // The timers' turn of the loop ends here: after one of these its sockets were read, and after two their TLS
      // content.
      await turn();
      await turn();
      const now = performance.now();
      if (bytesRead() !== read) until = Math.max(until, now + arriving_ms);
      if (now > Math.min(until, woken + 2 * ms)) break;
    }
    if (!stopped) late();
  };
  const timer = setTimeout(() => void look(), ms);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
