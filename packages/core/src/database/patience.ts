/** How many deadlines something may wait in our own queues, for a connection or for others' statements. */
export const waits_max = 3;

/** When the server last answered a statement of the pool, by this process's clock. */
export type DbHealth = { answered_at: number };

/** To be called with each answer. */
export function noteAnswer(pulse: DbHealth): void {
  pulse.answered_at = performance.now();
}

/** What is known about a statement waiting since `began_at`; `sent_at` is undefined until it has left. */
export type Waiting = { began_at: number; timeout_ms: number; sent_at?: () => number | undefined };

/**
 * How many milliseconds are left for the answer to a statement. The deadline is for a server that is down, and counts
 * from when the statement was sent. If all connections are busy but get answers, the server is up, and a statement may
 * wait for a connection for at most three deadlines. If no statement is answered, one deadline is enough.
 */
export function deadlineLeft(
  { began_at, timeout_ms, sent_at }: Waiting,
  { answered_at }: DbHealth,
  now: number,
): number {
  const sent = sent_at?.();
  if (sent !== undefined) return sent + timeout_ms - now;
  return Math.min(Math.max(began_at, answered_at) + timeout_ms, began_at + waits_max * timeout_ms) - now;
}

/** How long sockets are read after a deadline: their TLS content takes several turns of the event loop. */
const reading_ms = 20;

/**
 * Call `late` when `ms` have passed. After a pause of the event loop, timers run before sockets are read or written: a
 * timer that fires gives back the time by which it was itself late, at most another `ms`, and lets the loop read what has
 * come. The result stops it.
 *
 * @example
 * const stop = onDeadline(10_000, () => reject(new DatabaseTimeoutError(10_000)));
 */
export function onDeadline(ms: number, late: () => void): () => void {
  const due = performance.now() + ms;
  let timer = setTimeout(() => {
    const late_by_ms = Math.min(performance.now() - due, ms);
    timer = setTimeout(late, Math.max(reading_ms, late_by_ms));
  }, ms);
  return () => clearTimeout(timer);
}

/** Calls `late` once the deadline has passed. The result stops it. */
export function onceOverdue(waiting: Waiting, pulse: DbHealth, late: () => void): () => void {
  let stop: () => void = () => {};
  const allow = (ms: number): void => {
    stop = onDeadline(ms, () => {
      const left_ms = deadlineLeft(waiting, pulse, performance.now());
      if (left_ms > 0) allow(left_ms);
      else late();
    });
  };
  allow(Math.max(0, waiting.began_at + waiting.timeout_ms - performance.now()));
  return () => stop();
}

/** What became of a statement that was never sent in time: others may have been answered all along. */
export function unsent({ began_at, timeout_ms }: Waiting, { answered_at }: DbHealth): "busy" | "not_applied" {
  return performance.now() - Math.max(began_at, answered_at) < timeout_ms ? "busy" : "not_applied";
}
