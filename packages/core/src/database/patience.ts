/** How many deadlines something may wait in our own queues, for a connection or for others' statements. */
export const waits_max = 3;

/** When the server last answered a statement of the pool, by this process's clock. */
export type Pulse = { answered_at: number };

/** To be called with each answer. */
export function noteAnswer(pulse: Pulse): void {
  pulse.answered_at = performance.now();
}

/** What is known about a statement waiting since `began_at`; `sent_at` once it has left. */
export type Waiting = { began_at: number; sent_at: number | undefined; timeout_ms: number };

/**
 * How many more milliseconds a statement may go unanswered. The deadline is for a server that is away: it counts from
 * when the statement was sent. While all connections are busy but get answers, as over a slow connection or under load,
 * the server is there, and a statement waits for its turn: at most three deadlines. Once no one is answered, one is
 * enough.
 */
export function patienceLeft({ began_at, sent_at, timeout_ms }: Waiting, { answered_at }: Pulse, now: number): number {
  if (sent_at !== undefined) return sent_at + timeout_ms - now;
  return Math.min(Math.max(began_at, answered_at) + timeout_ms, began_at + waits_max * timeout_ms) - now;
}

/** What became of a statement that was never sent in time: others may have been answered all along. */
export function unsent({ began_at, timeout_ms }: Waiting, pulse: Pulse, now: number): "busy" | "not_applied" {
  return now - Math.max(began_at, pulse.answered_at) < timeout_ms ? "busy" : "not_applied";
}
