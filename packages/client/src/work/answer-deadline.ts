const answer_ms_max = 10_000;
const answer_ms_min = 1_000;

/**
 * How long the answer to a call that leases may take, beside what the call waits for a job, which is a third of a lease at
 * most: when the answer is lost, its jobs are given back while a third of their lease is left.
 *
 * @example
 * await calls.lease(queue, request, { timeoutMs: answerDeadlineMs(30) }); // 10,000
 */
export const answerDeadlineMs = (lease_seconds: number): number =>
  Math.min(answer_ms_max, Math.max(answer_ms_min, (lease_seconds * 1_000) / 3));
