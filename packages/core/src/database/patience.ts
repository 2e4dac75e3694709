import { onDeadline } from "./deadline.ts";

/** How many deadlines something may wait in our own queues, for a connection or for others' statements. */
export const waits_max = 3;

/** When the server last answered a statement of the pool, by this process's clock. */
export type Pulse = { answered_at: number };

/** To be called with each answer. */
export function noteAnswer(pulse: Pulse): void {
  pulse.answered_at = performance.now();
}

/** What is known about a statement waiting since `began_at`; `sent_at` is undefined until it has left. */
export type Waiting = { began_at: number; timeout_ms: number; sent_at?: () => number | undefined };

/**
 * How many more milliseconds a statement may go unanswered. The deadline is for a server that is away: it counts from
 * when the statement was sent. While all connections are busy but get answers, as over a slow connection or under load,
 * the server is there, and a statement waits for its turn: at most three deadlines. Once no one is answered, one is
 * enough.
 */
export function patienceLeft({ began_at, timeout_ms, sent_at }: Waiting, { answered_at }: Pulse, now: number): number {
  const sent = sent_at?.();
  if (sent !== undefined) return sent + timeout_ms - now;
  return Math.min(Math.max(began_at, answered_at) + timeout_ms, began_at + waits_max * timeout_ms) - now;
}

/** Call `late` when no patience is left, and no answer is on its way (see `onDeadline`). The result stops it. */
export function onceImpatient(waiting: Waiting, pulse: Pulse, late: () => void, bytesRead = () => 0): () => void {
  let stop: () => void = () => {};
  const allow = (ms: number): void => {
    stop = onDeadline(ms, bytesRead, () => {
      const left_ms = patienceLeft(waiting, pulse, performance.now());
      if (left_ms > 0) allow(left_ms);
      else late();
    });
  };
  allow(Math.max(0, waiting.began_at + waiting.timeout_ms - performance.now()));
  return () => stop();
}

/** What became of a statement that was never sent in time: others may have been answered all along. */
export function unsent({ began_at, timeout_ms }: Waiting, { answered_at }: Pulse): "busy" | "not_applied" {
  return performance.now() - Math.max(began_at, answered_at) < timeout_ms ? "busy" : "not_applied";
}
