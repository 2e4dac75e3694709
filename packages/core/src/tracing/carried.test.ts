import { readTraceContext, type TraceContext } from "@atlasqueue/contract";
import { forFile, submission, testCore } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { executeIn } from "../database/caller-transaction.ts";
import { cancel } from "../jobs/cancel.ts";
import { findJob } from "../jobs/find.ts";
import { retry } from "../jobs/retry.ts";
import { claim } from "../lease/claim.ts";
import { dueSchedules, fireSchedules } from "../schedules/fire.ts";
import { putSchedule } from "../schedules/store.ts";
import { fail } from "../settle/settle.ts";
import { admitAll } from "../../test/advance.ts";
import { submitInside, type InsideOutcome } from "../submit/pending/submit-inside.ts";
import { enqueue } from "../submit/enqueue.ts";
import { enqueueAll } from "../submit/enqueue-all.ts";
import type { EnqueueOutcome } from "../submit/outcome.ts";

const options = { idempotency_ttl_seconds: 60 };
const context = (digit: string, tracestate: string | null = null) =>
  readTraceContext(`00-${digit.repeat(32)}-${digit.repeat(16)}-01`, tracestate) as TraceContext;
const one = context("1", "vendor=opaque");
const other = context("2");
const nowhere = { traceparent: null, tracestate: null };

const deps = forFile(testCore);

const idOf = (outcome: EnqueueOutcome | InsideOutcome | undefined) =>
  outcome && "job" in outcome ? outcome.job.id : "";
const stored = async (id: string) => {
  const { traceparent, tracestate } = (await findJob(deps, "default", id)) ?? {};
  return { traceparent, tracestate };
};

test("a job carries the context of its submission, and is the same job when asked for from elsewhere", async () => {
  const asked = submission({ type: "carried" }, "key-1");
  const [first] = await enqueue(deps, [{ ...asked, trace: one }], options);
  expect(first).toMatchObject({ kind: "created", job: one });
  const [again] = await enqueue(deps, [{ ...asked, trace: other }], options);
  expect(again).toMatchObject({ kind: "replayed", job: { id: idOf(first), ...one } });
  expect(await stored(idOf(first))).toEqual(one);
  expect(deps.events).toContainEqual(
    expect.objectContaining({ event: "job_created", job_id: idOf(first), trace_id: "1".repeat(32) }),
  );
});

test.each([
  ["in a group", { group: "g" }],
  ["unique", { unique: { key: "u1", scope: "active" as const, on_conflict: "return" as const } }],
])("so does one that is %s, and one of a batch", async (_what, fields) => {
  const outcome = await enqueueAll(
    deps,
    [
      { ...submission({ type: "batch", ...fields }, crypto.randomUUID()), trace: one },
      { ...submission({ type: "plain" }, crypto.randomUUID()), trace: other },
      submission({ type: "untraced" }, crypto.randomUUID()),
    ],
    options,
  );
  if (outcome.kind !== "stored") throw new Error(outcome.kind);
  const ids = outcome.outcomes.map(idOf);
  expect(await Promise.all(ids.map(stored))).toEqual([one, other, nowhere]);
});

test("a job that is replaced is traced to what replaced it", async () => {
  const unique = { key: "u2", scope: "active" as const, on_conflict: "replace" as const };
  const wish = { type: "debounced", delay_seconds: 60, unique };
  const [first] = await enqueue(deps, [{ ...submission(wish), trace: one }], options);
  const [second] = await enqueue(deps, [{ ...submission(wish), trace: other }], options);
  expect(second).toMatchObject({ kind: "replaced", job: { id: idOf(first), ...other } });
  expect(await stored(idOf(first))).toEqual(other);
});

test("one that came with its caller's transaction keeps its context when it is admitted", async () => {
  const submitted = await deps.database.sql.begin(async (tx) => {
    const grouped = await submitInside(executeIn(tx), { ...submission({ group: "arrived" }), trace: one }, options);
    const plain = await submitInside(executeIn(tx), { ...submission(), trace: other }, options);
    return [idOf(grouped), idOf(plain)];
  });
  const outcomes: EnqueueOutcome[] = [];
  await admitAll(deps, { admitted: async (jobs) => void outcomes.push(...jobs.outcomes) });
  expect(outcomes).toMatchObject([{ kind: "created", job: one }]);
  expect(await Promise.all(submitted.map(stored))).toEqual([one, other]);
});

test("it stays through a failure, a person's retry and a cancellation", async () => {
  const [outcome] = await enqueue(deps, [{ ...submission({ type: "stays" }), trace: one }], options);
  const id = idOf(outcome);
  const claimer = { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 };
  const leases = await claim(deps, [id], claimer);
  expect(leases[0]).toMatchObject(one);
  await fail(
    deps,
    leases.map((lease) => ({ lease, error: "Error: no", verdict: { kind: "retry", delay_ms: 0 } })),
  );
  await retry(deps, "default", id);
  await cancel(deps, "default", id);
  expect(await stored(id)).toEqual(one);
});

test("a schedule's jobs are traced to the request that stored it, the latest one", async () => {
  const ref = { tenant: "default", name: "traced" };
  const job = submission({ type: "recurring" }).request;
  const definition = { name: ref.name, cron: "* * * * *", timezone: "UTC", catch_up: "one" as const, job };
  await putSchedule(deps, "default", definition, one);
  await putSchedule(deps, "default", definition, other);
  await deps.database
    .sql`UPDATE atlasqueue.schedules SET next_at = now() - interval '1 minute' WHERE name = ${ref.name}`;
  const { made } = await fireSchedules(deps, await dueSchedules(deps, 10, []));
  expect(made).toMatchObject([{ kind: "created", job: other }]);
});
