import type { JobStatus, JobSubmission, LastLine, Problem, TakenLine } from "@atlasqueue/contract";
import { pause } from "@atlasqueue/runtime";
import { AtlasQueueError, TimeoutError, TooLargeError, UnexpectedAnswerError } from "../errors.ts";
import { errorOfProblem, networkError } from "../http/error-of.ts";
import { backoffMs, nextTryInMs } from "../http/retry.ts";
import { within } from "../http/time.ts";
import { hiderOf, type CallOptions, type TransportOptions } from "../http/transport.ts";
import { connectStream, what } from "./connection.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

/** What became of a job: `index` is its place in what was given, `key` what it was sent under. */
export type StreamedJob = { index: number; key: string } & (
  | { id: string; status: JobStatus; outcome: TakenLine["outcome"]; error?: never }
  | { error: AtlasQueueError }
);

export type StreamCalls = {
  /**
   * Any number of jobs, as they come: each is answered, in order, once it is durable or refused; a refused one has an
   * `error`, and those after it go on. Jobs are taken only as fast as they are stored and answers are read, and at most
   * 2,000 wait for theirs. When the connection ends, what was not answered is sent again under its keys, so every job is
   * stored once; with your own keys even by a program that is started anew. Throws like `submit` when that cannot go on,
   * after retries without any progress: `retryMaxMs` counts from the first failure since an answer, however long there
   * was nothing to send before it. A connection on which a line has no answer for 90 s is such a failure. When `jobs` fails, what it gave before is answered, then its own error is
   * thrown; a job that JSON cannot hold ends it in the same way. Needs a `fetch` that sends streams: Node, Deno, Bun; not browsers over HTTP/1.1.
   */
  submitStream(
    jobs: AsyncIterable<JobSubmission> | Iterable<JobSubmission>,
    call?: CallOptions,
  ): AsyncGenerator<StreamedJob, void, undefined>;
};

export function streamCalls(own: TransportOptions, middleware: readonly unknown[] = []): StreamCalls {
  return {
    submitStream(jobs, call) {
      if (middleware.length === 0) return submitStream(own, jobs, call);
      throw new TypeError(
        "submitStream runs no middleware, and this client has some: call submitMany, or use another client",
      );
    },
  };
}

async function* submitStream(
  own: TransportOptions,
  jobs: AsyncIterable<JobSubmission> | Iterable<JobSubmission>,
  call: CallOptions = {},
): AsyncGenerator<StreamedJob, void, undefined> {
  const { signal, timeoutMs = own.timeoutMs, retries = own.retries, retryMaxMs = own.retryMaxMs } = call;
  const outbox = createOutbox(jobs);
  let tries = 0;
  let failing_since = 0;
  let in_vain = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      // Not before there is something to send: a stream without lines is ended by the server.
      if (outbox.unanswered.length === 0) {
        await within(Infinity, signal, outbox.more, () => new TimeoutError(what));
        // What broke before is not what holds this up.
        tries = 0;
      }
      if (outbox.unanswered.length === 0) {
        if (outbox.failure) throw outbox.failure.error;
        return;
      }
      try {
        in_vain += 1;
        for await (const one of answersOf(own, outbox, signal, timeoutMs)) {
          tries = 0;
          in_vain = 0;
          yield one;
        }
        // Such as by a server that is stopping, and takes connections until it has let in all that have come.
        if (in_vain > 0) await pause(backoffMs(in_vain, Math.random()), signal);
      } catch (thrown) {
        signal?.throwIfAborted();
        const error = thrown instanceof AtlasQueueError ? thrown : networkError(what, thrown, hiderOf(own));
        // Not from the last answer: nothing may have been sent since, or nothing read.
        if (tries === 0) failing_since = performance.now();
        tries += 1;
        const left_ms = retryMaxMs - (performance.now() - failing_since);
        const wait_ms = nextTryInMs(error, { repeat: "always", tries, retries, left_ms }, Math.random());
        if (wait_ms === undefined) throw error;
        await pause(wait_ms, signal);
      }
    }
  } catch (error) {
    // It came first: how the source is left does not take its place.
    await leave(outbox, signal, timeoutMs).catch(() => {});
    throw error;
  } finally {
    await leave(outbox, signal, timeoutMs);
  }
}

/** What one connection says, as what became of the oldest jobs. Ends when the server wants another one. */
async function* answersOf(
  own: TransportOptions,
  outbox: Outbox,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): AsyncGenerator<StreamedJob, void, undefined> {
  const over = new AbortController();
  const ending = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const answerOldest = (became: { error: AtlasQueueError } | Omit<TakenLine, "line">): StreamedJob => {
    const [oldest] = outbox.unanswered;
    if (!oldest) throw new UnexpectedAnswerError(`${what}: an answer to nothing`, {});
    const about = { index: outbox.answered, key: oldest.key, ...became };
    outbox.settle();
    return about;
  };
  try {
    for await (const answer of connectStream(own, outbox, { signal: ending, timeoutMs })) {
      if ("end" in answer) {
        const error = answer.error && errorOf(answer);
        // The line that ended it is the oldest: those after it are sent again.
        if (error instanceof TooLargeError) yield answerOldest({ error });
        else if (error) throw error;
      } else if ("error" in answer) yield answerOldest({ error: errorOf(answer) });
      else {
        const { line: _line, ...taken } = answer;
        yield answerOldest(taken);
      }
    }
  } finally {
    // However it ends, the connection must not stay.
    over.abort();
  }
}

const errorOf = ({ error }: { error?: Omit<Problem, "instance"> | LastLine["error"] }) =>
  errorOfProblem(what, { ...(error as Omit<Problem, "instance">), instance: "" });

/** Gives the source of jobs time to clean up, but no longer than anybody waits for it. */
async function leave(outbox: Outbox, signal: AbortSignal | undefined, timeoutMs: number): Promise<void> {
  const closed = outbox.close();
  const late = () => new TimeoutError(`${what}: the source of jobs did not end within ${timeoutMs} ms`);
  try {
    await within(timeoutMs, signal, () => closed, late);
  } catch (error) {
    closed.catch(() => {});
    if (!signal?.aborted) throw error;
  }
}
