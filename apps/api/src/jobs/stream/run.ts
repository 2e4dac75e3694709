import { limits, type TraceContext } from "@atlasqueue/contract";
import { isUnavailable } from "@atlasqueue/core";
import { NoRoomError, outcomeUnknown } from "@atlasqueue/core/internal/http";
import type { Arriving } from "../../http/body/arriving.ts";
import { createLineReader, type Line } from "../../http/body/lines.ts";
import { ProblemError } from "../../http/answers/problem.ts";
import type { RouteDeps } from "../../route/deps.ts";
import { admitLines, type Refusals } from "./admit.ts";
import { ended, refused, takenOrRefused, type Ending } from "./answers.ts";
import { createFlights } from "./flights.ts";
import { waitForPermits } from "./permits.ts";
import { readLines, type Asked } from "./read-line.ts";
import { storeLines, type Stored } from "./store.ts";

/** Lines stored together, and how many such batches are under way at once: what may be unanswered. */
const lines_max = 500;
const flights_max = 2;

/** Answers to the lines of a batch; `failed` when those after them have none. */
type Answered = { text: string; lines: number; failed?: ProblemError };

export type StreamCall = {
  deps: RouteDeps;
  tenant: string;
  body: Arriving;
  trace: TraceContext | undefined;
  problemOf(thrown: unknown): ProblemError;
};

export type Run = {
  /** The next answers; after the last line undefined. One call at a time. */
  next(): Promise<string | undefined>;
  /** Reads no more. What was read is stored and answered; then this is said. */
  end(ending: Ending): void;
  /** Reads no more, and nobody wants the answers. */
  abandon(): void;
  /** Since when answers wait to be asked for; undefined when none do. */
  waitsSince(): number | undefined;
};

/**
 * Has the lines of a body stored while it arrives: batch after batch, as fast as they commit and their answers are
 * asked for.
 *
 * @example
 * const run = runStream(call);
 * for (let text = await run.next(); text !== undefined; text = await run.next()) write(text);
 */
export function runStream(call: StreamCall): Run {
  const { deps, tenant, body } = call;
  const stop = new AbortController();
  const flights = createFlights<Answered>(flights_max);
  const line_bytes_max = deps.payload_bytes_max + limits.line_envelope_bytes_max;
  const { idle_ms } = deps.jobStreams.times;
  const reader = createLineReader(body, { line_bytes_max, lines_max, idle_ms });
  let ending: Ending | undefined;
  let answered = 0;
  let over = false;

  const end = (with_: Ending) => {
    ending ??= with_;
    stop.abort();
  };
  const failed = (thrown: unknown) => end({ end: "failed", problem: call.problemOf(thrown) });

  const read = async (): Promise<void> => {
    let before: Promise<Answered> | undefined;
    while (!stop.signal.aborted) {
      await flights.room(stop.signal);
      const { lines, over: why } = await reader.take(stop.signal);
      await waitForPermits(deps.access, tenant, lines.length, stop.signal);
      if (stop.signal.aborted) return;
      if (lines.length > 0) {
        const flight = answerBatch(call, lines, before);
        before = flight;
        deps.underWay.add(flight);
        flights.add(flight);
      }
      if (typeof why === "string" && why !== "stopped") end({ end: why });
      else if (typeof why === "object") failed(tooLong(why.too_long, line_bytes_max));
    }
  };
  void read()
    .catch(failed)
    .finally(() => {
      flights.close();
      body.leave();
    });

  return {
    async next() {
      if (over) return undefined;
      const landed = await flights.next();
      if (landed) {
        answered += landed.lines;
        if (!landed.failed) return landed.text;
        ending = { end: "failed", problem: landed.failed };
        stop.abort();
      }
      over = true;
      return (landed?.text ?? "") + ended(ending ?? { end: "complete" }, answered);
    },
    end,
    abandon() {
      over = true;
      stop.abort();
    },
    waitsSince: flights.waitsSince,
  };
}

/** Never rejects: what cannot be done for any line is the end of the stream. */
async function answerBatch(
  call: StreamCall,
  lines: readonly Line[],
  before: Promise<Answered> | undefined,
): Promise<Answered> {
  const { deps, tenant } = call;
  const refusals: Refusals = new Map();
  let asked: Asked[] = lines.map(({ number: line, bytes }) => ({ line, bytes: bytes.length }));
  let stored = new Map<number, Stored>();
  const memory = deps.gate.memory(tenant);
  try {
    await deps.gate.hold(tenant, async () => {
      asked = await readLines(lines, deps.payload_bytes_max, memory);
      const admitted = await admitLines({ ...deps, ...call }, asked, refusals);
      const outcomes = await storeLines(deps.submitter, admitted, before);
      stored = new Map(admitted.map(({ line }, at) => [line, outcomes[at] as Stored]));
    });
  } catch (thrown) {
    if (!(thrown instanceof NoRoomError)) return { text: "", lines: 0, failed: call.problemOf(thrown) };
    for (const { line } of asked) refusals.set(line, thrown);
  } finally {
    memory.release();
  }
  return answersTo(call, asked, refusals, stored);
}

function answersTo(
  call: StreamCall,
  asked: readonly Asked[],
  refusals: Refusals,
  stored: ReadonlyMap<number, Stored>,
): Answered {
  let text = "";
  for (const [at, { line, problem }] of asked.entries()) {
    const found = stored.get(line);
    if (found && "outcome" in found) {
      text += takenOrRefused(line, found.outcome);
      continue;
    }
    const thrown = problem ?? found?.thrown ?? refusals.get(line);
    const told = call.problemOf(thrown);
    if (found && (isUnavailable(thrown) || outcomeUnknown(thrown))) return { text, lines: at, failed: told };
    text += refused(line, told);
  }
  return { text, lines: asked.length };
}

function tooLong(line: number, line_bytes_max: number): ProblemError {
  return new ProblemError("too_large", `Line ${line} has more than the ${line_bytes_max} bytes a line may have`);
}
