import type { JobSubmission } from "@atlasqueue/contract";
import { randomKey } from "../idempotency-key.ts";

/** What may be sent and unanswered: beyond it, no more jobs are taken. */
const lines_max = 2_000;
const chars_max = 8 * 1_048_576;

export type Outbox = {
  /** The lines without an answer, oldest first. */
  readonly unanswered: readonly { key: string; text: string }[];
  /** How many jobs have had theirs. */
  readonly answered: number;
  /** Resolves when there is one more line, or there are no more jobs; waits while too much is unanswered. */
  more(): Promise<void>;
  /** There are no more jobs. */
  readonly exhausted: boolean;
  /** The oldest line has its answer. */
  settle(): void;
  /** No more jobs are wanted. */
  close(): Promise<void>;
};

/**
 * Takes jobs from whoever makes them, as lines under their keys, and holds each until it is answered: what a broken
 * connection left open is sent again from here.
 */
export function createOutbox(jobs: AsyncIterable<JobSubmission> | Iterable<JobSubmission>): Outbox {
  const source = Symbol.asyncIterator in jobs ? jobs[Symbol.asyncIterator]() : jobs[Symbol.iterator]();
  const unanswered: { key: string; text: string }[] = [];
  let chars = 0;
  let answered = 0;
  let exhausted = false;
  let taking: Promise<void> | undefined;
  let roomed = () => {};

  const take = async (): Promise<void> => {
    while (unanswered.length >= lines_max || chars > chars_max)
      await new Promise<void>((resolve) => (roomed = resolve));
    const { done, value } = await source.next();
    if (done) return void (exhausted = true);
    const key = value.idempotency_key ?? randomKey();
    const text = `${JSON.stringify({ ...value, idempotency_key: key })}\n`;
    unanswered.push({ key, text });
    chars += text.length;
  };

  return {
    unanswered,
    get answered() {
      return answered;
    },
    get exhausted() {
      return exhausted;
    },
    // One at a time, whichever connection asks: none takes a job away from the next one.
    more: () => (taking ??= take().finally(() => (taking = undefined))),
    settle() {
      chars -= unanswered.shift()?.text.length ?? 0;
      answered += 1;
      roomed();
    },
    async close() {
      await source.return?.();
    },
  };
}
