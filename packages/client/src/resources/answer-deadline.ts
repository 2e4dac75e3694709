const answer_ms_max = 10_000;
const answer_ms_min = 1_000;

/**
 * How long the answer to a call that leases for `lasts_ms` may take, beside what the call waits for a job: where that is a
 * third of the lease as well, its jobs are given back while a third of their lease is left when the answer is lost.
 *
 * @example
 * await send({ ...call, answer_ms_max: answerMsMax(15_000) }); // 5,000
 */
export const answerMsMax = (lasts_ms: number): number => Math.min(answer_ms_max, Math.max(answer_ms_min, lasts_ms / 3));
