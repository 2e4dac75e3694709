import { limits, type TraceContext } from "@atlasqueue/contract";
import { pause } from "@atlasqueue/core/internal";
import { NoRoomError } from "@atlasqueue/core/internal/http";
import type { Arriving } from "../../http/body/arriving.ts";
import { createLineReader, type Line } from "../../http/body/lines.ts";
import { ProblemError, unavailable } from "../../http/answers/problem.ts";
import { rateLimited } from "../../access/charge.ts";
import type { RouteDeps } from "../../route/deps.ts";
import { admitLines } from "./admit.ts";
import { ended, refused, takenOrRefused, type Ending } from "./answers.ts";
import { readLine, type Item } from "./read-line.ts";
import { storeLines } from "./store.ts";

/** Lines stored together. Two such batches may be unanswered. */
const lines_max = 500;

/** Answers to the lines of a batch; `failed` when those after them have none. */
type Answered = { text: string; lines: number; failed?: ProblemError };

export type StreamCall = {
  deps: RouteDeps;
  tenant: string;
  body: Arriving;
  trace: TraceContext | undefined;
  problemOf(thrown: unknown): ProblemError;
};

/**
 * Has the lines of a body stored while it arrives: batch after batch, as fast as they commit and their answers are
 * asked for. While the answers of one batch are waited for, the next is read and stored.
 *
 * @example
 * const run = runStream(call);
 * for (let text = await run.next(); text !== undefined; text = await run.next()) write(text);
 */
export function runStream(call: StreamCall) {
  const { deps, tenant, body } = call;
  const stop = new AbortController();
  const line_bytes_max = deps.payload_bytes_max + limits.line_envelope_bytes_max;
  const { idle_ms } = deps.jobStreams;
  const reader = createLineReader(body, { line_bytes_max, lines_max, idle_ms });
  let ending: Ending | undefined;
  let answered = 0;
  let over = false;
  let reading: Promise<unknown> = Promise.resolve();
  let last: Promise<Answered> | undefined;

  const end = (with_: Ending) => {
    ending ??= with_;
    stop.abort();
  };
  const failed = (thrown: unknown) => end({ end: "failed", problem: call.problemOf(thrown) });

  /** The next lines; none when there will be no more. */
  const read = async (): Promise<Line[]> => {
    if (!stop.signal.aborted) {
      const { lines, over: why } = await reader.take(stop.signal);
      await waitForPermits(deps, tenant, lines.length, stop.signal);
      if (lines.length > 0 && !stop.signal.aborted) return lines;
      if (typeof why === "object") failed(tooLong(why.too_long, line_bytes_max));
      else if (why !== undefined && why !== "stopped") end({ end: why });
    }
    return [];
  };
  const readOrEnd = (): Promise<Line[]> =>
    read().catch((thrown: unknown) => {
      failed(thrown);
      return [];
    });
  const begin = (): Promise<Answered> => {
    const before = last;
    const lines = reading.then(readOrEnd);
    reading = lines;
    last = lines.then((taken) => {
      if (taken.length === 0) return nothing;
      const flight = answerBatch(call, taken, before);
      deps.underWay.add(flight);
      return flight;
    });
    return last;
  };
  const leave = () => {
    if (!over) body.leave();
    over = true;
    stop.abort();
  };
  let ahead = begin();

  return {
    /** The next answers; after the last line undefined. One call at a time. */
    async next(): Promise<string | undefined> {
      if (over) return undefined;
      const flight = ahead;
      ahead = begin();
      const landed = await flight;
      answered += landed.lines;
      if (landed.failed) ending = { end: "failed", problem: landed.failed };
      else if (landed.lines > 0) return landed.text;
      leave();
      return landed.text + ended(ending ?? { end: "complete" }, answered);
    },
    /** Reads no more. What was read is stored and answered; then this is said. */
    end,
    /** Reads no more, and nobody wants the answers. */
    abandon: leave,
  };
}

const nothing: Answered = { text: "", lines: 0 };

/**
 * Waits until the tenant's rate limit allows so many lines, or `stop` aborts. A request is refused when there are no
 * permits left; a stream is read more slowly, unless it would have to wait for too long.
 */
async function waitForPermits({ access, jobStreams }: RouteDeps, tenant: string, lines: number, stop: AbortSignal) {
  const { limiter, observe } = access;
  while (limiter && lines > 0 && !stop.aborted) {
    const permit = await limiter.take(tenant, lines);
    if (permit.allowed) return;
    observe({ event: "rate_limited", tenant });
    if (permit.retry_after_ms > jobStreams.idle_ms) throw rateLimited(limiter.rate, permit);
    await pause(permit.retry_after_ms, stop);
  }
}

/** Never rejects: what cannot be done for any line is the end of the stream. */
async function answerBatch(
  call: StreamCall,
  lines: readonly Line[],
  before: Promise<Answered> | undefined,
): Promise<Answered> {
  const { deps, tenant, problemOf } = call;
  let items: Item[] = [];
  try {
    await requireSameCell(deps, tenant);
    await deps.gate.hold(tenant, async (weigh) => {
      weigh(lines.reduce((sum, { bytes }) => sum + bytes.length, 0));
      items = lines.map((line) => readLine(line, call, weigh));
      await admitLines(deps, tenant, items);
      await storeLines(deps.submitter, items, before);
    });
  } catch (thrown) {
    if (!(thrown instanceof NoRoomError)) return { text: "", lines: 0, failed: problemOf(thrown) };
    items = lines.map(({ number: line, bytes }) => ({ line, bytes: bytes.length, thrown }));
  }
  let text = "";
  for (const [at, { line, outcome, thrown, ends }] of items.entries()) {
    if (ends) return { text, lines: at, failed: problemOf(thrown) };
    text += outcome ? takenOrRefused(line, outcome) : refused(line, problemOf(thrown));
  }
  return { text, lines: items.length };
}

/** A stream may be older than its tenant's move to another cell. Sent again, the lines that have no answer go there. */
async function requireSameCell({ cellOf, submitter }: RouteDeps, tenant: string): Promise<void> {
  if (cellOf && (await cellOf(tenant)).submitter !== submitter)
    throw unavailable(`Tenant ${tenant} has moved to another cell; send the rest in a new stream`);
}

function tooLong(line: number, line_bytes_max: number): ProblemError {
  return new ProblemError("too_large", `Line ${line} has more than the ${line_bytes_max} bytes a line may have`);
}
