import type { JobSubmission } from "@atlasqueue/contract";
import { randomKey } from "../idempotency-key.ts";
import { createSource } from "./source.ts";

/** What may be sent and unanswered: beyond it, no more jobs are taken. */
const lines_max = 2_000;
const chars_max = 8 * 1_048_576;

/** `taken_at`, on the clock of `performance`. */
type OpenLine = { key: string; text: string; taken_at: number };

export type Outbox = {
  /** The lines without an answer, oldest first. */
  readonly unanswered: readonly OpenLine[];
  /** How many jobs have had theirs. */
  readonly answered: number;
  /** Resolves when there is one more line, or there are no more jobs; waits while too much is unanswered. It never rejects. */
  more(): Promise<void>;
  /** There are no more jobs. */
  readonly exhausted: boolean;
  /** Why there are no more, when that was not all: for a caller that has read the answers before it. */
  readonly failure: { error: unknown } | undefined;
  /** The oldest line has its answer. */
  settle(): void;
  /** No more jobs are wanted. Rejects with what their source throws as it is left; a second time does nothing. */
  close(): Promise<void>;
};

/**
 * Takes jobs from their producer, as lines under their keys, and holds each until it is answered: what a broken
 * connection left open is sent again from here.
 */
export function createOutbox(jobs: AsyncIterable<JobSubmission> | Iterable<JobSubmission>): Outbox {
  const source = createSource(jobs);
  const unanswered: OpenLine[] = [];
  let chars = 0;
  let answered = 0;
  let exhausted = false;
  let failure: { error: unknown } | undefined;
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
    if (exhausted) return;
    try {
      const next = await source.next();
      if (next.done) exhausted = true;
      else add(next.value);
    } catch (error) {
      [exhausted, failure] = [true, { error }];
    }
  };

  return {
    unanswered,
    get answered() {
      return answered;
    },
    get exhausted() {
      return exhausted;
    },
    get failure() {
      return failure;
    },
    // One at a time, whichever connection asks: none takes a job away from the next one.
    more: () => (taking ??= take().finally(() => (taking = undefined))),
    settle() {
      chars -= unanswered.shift()?.text.length ?? 0;
      answered += 1;
      roomed();
    },
    close() {
      exhausted = true;
      return source.leave();
    },
  };
}
