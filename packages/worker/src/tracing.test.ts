import { readTraceContext, type SpanWish, type TraceContext, type Tracing } from "@atlasqueue/contract";
import { submission, submit } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { noop, workerHarness } from "../test/harness.ts";

const harness = workerHarness();
const context = (digit: number) =>
  readTraceContext(`00-${String(digit).repeat(32)}-${String(digit).repeat(16)}-01`, null) as TraceContext;

/** A port that keeps what it is asked for. */
function recorder(on: boolean): Tracing & { wishes: SpanWish[]; ends: number } {
  const recording = {
    wishes: [] as SpanWish[],
    ends: 0,
    child_attempts: "first" as const,
    create_spans: true,
    on: () => on,
    active: () => undefined,
    measure: () => {},
    start(wish: SpanWish) {
      recording.wishes.push(wish);
      return {
        context: context(recording.wishes.length),
        active: <T>(work: () => T) => work(),
        set: () => {},
        rename: () => {},
        end: () => void (recording.ends += 1),
      };
    },
  };
  return recording;
}

async function run(tracing: Tracing, traces: (TraceContext | undefined)[]): Promise<void> {
  const submissions = traces.map((trace) => ({ ...submission(), trace }));
  const outcomes = await submit(harness.deps(), submissions, { idempotency_ttl_seconds: 60 });
  const worker = harness.work([noop], { concurrency: 10 }, { tracing });
  for (const outcome of outcomes)
    await harness.becomes("job" in outcome ? outcome.job.id : "", { status: "succeeded" });
  await worker.stop({ deadlineMs: 10_000 });
}

test("a port that is off is asked for nothing, and its worker for no context", async () => {
  const tracing = recorder(false);
  await run(tracing, [context(8), undefined]);
  expect(tracing.wishes).toEqual([]);
});

test("each span that is begun is ended, and links to what the jobs carry, if they carry anything", async () => {
  const tracing = recorder(true);
  await run(tracing, [context(8), context(9), undefined]);
  const named = (name: string) => tracing.wishes.filter((wish) => wish.name === name);
  expect(tracing.ends).toBe(tracing.wishes.length);
  const linked = (wishes: SpanWish[]) =>
    wishes.flatMap(({ links = [] }) => links.map(({ traceparent }) => traceparent));
  const carried = [context(8).traceparent, context(9).traceparent];
  for (const name of ["receive default", "process default", "ack default"])
    expect(linked(named(name)).toSorted(), name).toEqual(carried);
  expect(
    named("process default")
      .map(({ parent }) => parent?.traceparent)
      .toSorted(),
  ).toEqual([...carried, undefined]);
});
