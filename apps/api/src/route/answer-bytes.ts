import { resultKindOf } from "./call.ts";
import type { Operation } from "./operation.ts";

/** As much as an act's answer has: a job with a payload and a result of 256 KiB each, and the rest of it. */
export const job_answer_bytes_max = 750_000;

/**
 * How many bytes of an answer must find room before a request is handled, by its checked body: those of an act, whose
 * answer cannot be refused once it is done.
 *
 * @example
 * const bytes = answerBytesOf(operation)(input.body);
 */
export function answerBytesOf(operation: Operation): (body: unknown) => number {
  const { method, asks_others, answer_bytes_max: most = job_answer_bytes_max } = operation;
  const kind = resultKindOf(operation);
  const none = method === "get" || asks_others || kind === "empty" || kind === "stream";
  if (none) return () => 0;
  return typeof most === "number" ? () => most : (most as (body: unknown) => number);
}
