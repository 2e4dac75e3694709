import { connectDatabase } from "../../database/connect.ts";
import type { SubmitJobInput } from "@atlasqueue/contract";
import { submission } from "@atlasqueue/harness";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engineHarness } from "../../../test/engine-harness.ts";
import { createSubmitter, type Submitter } from "../submitter.ts";
import type { EnqueueOutcome } from "../outcome.ts";

const options = { idempotency_ttl_seconds: 60 };
type Unique = NonNullable<SubmitJobInput["unique"]>;

const { deps, url } = engineHarness();
/** Two processes, as far as the database can tell: each has its own connections and group commit. */
let submitters: Submitter[];
let close: () => Promise<unknown>;
beforeAll(async () => {
  const databases = [1, 2].map(() => connectDatabase({ url: url(), connectionsMax: 5, timeoutMs: 15_000 }));
  submitters = databases.map((database) =>
    createSubmitter({ ...deps, database, followUps: { submitted() {}, async drain() {} } }, options),
  );
  close = async () => {
    await Promise.all(submitters.map((one) => one.close()));
    await Promise.all(databases.map((one) => one.close()));
  };
});
afterAll(() => close());

let made = 0;
const submit = (unique: Unique, request: Partial<SubmitJobInput> = {}): Promise<EnqueueOutcome> => {
  const by = submitters[(made += 1) % 2] as Submitter;
  return by.submit(submission({ unique, ...request }, `race-${made}`), 10);
};
const crowd = (unique: Unique) => Promise.all(Array.from({ length: 50 }, (_, n) => submit(unique, { payload: { n } })));
const rows = () =>
  deps.database.sql<{ id: string; status: string; payload: { n: number } }[]>`SELECT * FROM atlasqueue.jobs`;
const count = (outcomes: EnqueueOutcome[], kind: EnqueueOutcome["kind"]) =>
  outcomes.filter((one) => one.kind === kind).length;
const idsOf = (outcomes: EnqueueOutcome[]) =>
  new Set(outcomes.map((one) => ("job" in one ? one.job.id : "job_id" in one ? one.job_id : "")));

describe.each([
  ["while active", { key: "k" }],
  ["in a window", { key: "k", scope: "window", window_seconds: 60 }],
] as const)("50 submissions of one key from two processes, %s", (_scope, terms) => {
  test("return: one job, and all get it as the answer", async () => {
    const outcomes = await crowd({ ...terms, on_conflict: "return" });
    expect([count(outcomes, "created"), count(outcomes, "existing"), idsOf(outcomes).size]).toEqual([1, 49, 1]);
    expect(await rows()).toHaveLength(1);
  });

  test("reject: one job, and the refusals name it", async () => {
    const outcomes = await crowd({ ...terms, on_conflict: "reject" });
    expect([count(outcomes, "created"), count(outcomes, "conflict"), idsOf(outcomes).size]).toEqual([1, 49, 1]);
    expect(await rows()).toHaveLength(1);
  });

  test("replace: one job, exactly one of the requests", async () => {
    const outcomes = await crowd({ ...terms, on_conflict: "replace" });
    expect([count(outcomes, "created"), count(outcomes, "replaced"), idsOf(outcomes).size]).toEqual([1, 49, 1]);
    expect((await rows()).map(({ status }) => status)).toEqual(["queued"]);
  });
});

test("50 successive calls debounce: one job runs, after the last of them, with its content", async () => {
  for (let n = 0; n < 50; n += 1)
    await submit({ key: "k", on_conflict: "replace" }, { payload: { n }, delay_seconds: 10 });
  const [row, ...more] = await deps.database.sql`SELECT *, run_at - updated_at AS rest FROM atlasqueue.jobs`;
  expect(more).toEqual([]);
  expect(row).toMatchObject({ status: "scheduled", payload: { n: 49 }, rest: "00:00:10" });
});
