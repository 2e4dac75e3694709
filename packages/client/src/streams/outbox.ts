import type { JobSubmission } from "@atlasqueue/contract";
import { randomKey } from "../idempotency-key.ts";
import { createSource } from "./source.ts";

/** What may be sent and unanswered: beyond it, no more jobs are taken. */
const lines_max = 2_000;
const chars_max = 8 * 1_048_576;

/** `taken_at`, on the clock of `performance`. */
type OpenLine = { key: string; text: string; taken_at: number };

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Takes jobs from their producer, as lines under their keys, and holds each until it is answered: what a broken
 * connection left open is sent again from here.
 */
export function createOutbox(jobs: AsyncIterable<JobSubmission> | Iterable<JobSubmission>) {
  const source = createSource(jobs);
  const unanswered: OpenLine[] = [];
  let chars = 0;
  let taking: Promise<void> | undefined;
  let roomed = () => {};

  /** Throws for what JSON cannot hold. */
  const add = (job: JobSubmission) => {
    const key = job.idempotency_key ?? randomKey();
    const text = `${JSON.stringify({ ...job, idempotency_key: key })}\n`;
    unanswered.push({ key, text, taken_at: performance.now() });
    chars += text.length;
  };

  const take = async (): Promise<void> => {
    while (unanswered.length >= lines_max || chars > chars_max)
      await new Promise<void>((resolve) => (roomed = resolve));
    if (outbox.exhausted) return;
    try {
      const next = await source.next();
      if (next.done) outbox.exhausted = true;
      else add(next.value);
    } catch (error) {
      [outbox.exhausted, outbox.failure] = [true, { error }];
    }
  };

  const outbox = {
    /** The lines without an answer, oldest first. */
    unanswered: unanswered as readonly OpenLine[],
    /** How many jobs have had theirs. */
    answered: 0,
    /** There are no more jobs. */
    exhausted: false,
    /** Why there are no more, when that was not all: for a caller that has read the answers before it. */
    failure: undefined as { error: unknown } | undefined,
    /** Resolves when there is one more line, or there are no more jobs; waits while too much is unanswered. It never rejects. */
    // One at a time, whichever connection asks: none takes a job away from the next one.
    more: (): Promise<void> => (taking ??= take().finally(() => (taking = undefined))),
    /** The oldest line has its answer. */
    settle(): void {
      chars -= unanswered.shift()?.text.length ?? 0;
      outbox.answered += 1;
      roomed();
    },
    /** No more jobs are wanted. Rejects with what their source throws as it is left; a second time does nothing. */
    close(): Promise<void> {
      outbox.exhausted = true;
      return source.leave();
    },
  };
  return outbox;
}
