import { steppingDatabase, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness, tenant } from "../../test/engine-harness.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import { claim } from "../lease/claim.ts";
import { complete, fail } from "../settle/settle.ts";
import { enqueue } from "../submit/enqueue.ts";
import { findJobByKey } from "./find.ts";
import { listJobs } from "./list.ts";
import { searchJobs } from "./search.ts";

const { deps } = engineHarness();

/** As long as a busy machine needs to read a few jobs. */
const patient_ms = 60_000;
const add = async (payload: object, { of = tenant, key = "" } = {}): Promise<string> => {
  const one = {
    ...submission({ type: "t", payload: payload as never }),
    tenant: of,
    ...(key && { idempotency_key: key }),
  };
  const [outcome] = await enqueue(deps, [one], { idempotency_ttl_seconds: 60 });
  if (outcome?.kind !== "created") throw new Error("not created");
  return outcome.job.id;
};
const lease = async (id: string) => {
  const [one] = await claim(deps, [id], { tenant, queues: ["default"], worker_id: "w-7", lease_seconds: 30 });
  if (!one) throw new Error("not claimed");
  return one;
};
const search = (text: string, filter = {}, jobs_max = 50, below?: string) =>
  searchJobs(deps, tenant, filter, text, jobs_max, below, patient_ms);
const found = async (text: string, filter = {}) => (await search(text, filter)).rows.map(({ id }) => id);

test("a text is found in payload, result and error, in any case, newest first, in the tenant alone", async () => {
  const payload = await add({ to: { name: "Ada Lovelace" } });
  const result = await add({});
  await complete(deps, [{ lease: await lease(result), result: { greeted: "ADA" } }]);
  const error = await add({});
  await fail(deps, [
    { lease: await lease(error), error: "Error: no ada", verdict: { kind: "dead", reason: "not_retryable" } },
  ]);
  await add({ to: "Grace" });
  await add({ to: "Ada" }, { of: "other" });
  expect(await found("ada")).toEqual([error, result, payload]);
  expect(await found("ada", { status: "dead" })).toEqual([error]);
  expect(await found("ada", { type: "none" })).toEqual([]);
  expect((await search("ada")).jobs).toBe(4);
});

test.each(["100%", "a_b", "back\\slash", 'a "quoted" one', "line\nbreak", "Grüße", "[x](.*)", "'; DROP TABLE jobs"])(
  "%j is looked for literally",
  async (text) => {
    const id = await add({ text: `before ${text} after` });
    await add({ text: "100x axb backslash a quoted one linebreak Gruesse x" });
    expect(await found(text)).toEqual([id]);
  },
);

test("pages follow on one another, and say how many jobs were read and where to go on", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 130; n += 1) ids.push(await add({ text: n % 10 === 0 ? "needle" : "hay" }));
  const needles = ids.filter((_id, n) => n % 10 === 0).toReversed();
  const first = await search("needle", {}, 5);
  expect(first.rows.map(({ id }) => id)).toEqual(needles.slice(0, 5));
  const second = await search("needle", {}, 50, first.next);
  expect(second.rows.map(({ id }) => id)).toEqual(needles.slice(5));
  expect(second.next).toBeUndefined();
  // A search without time reads one stretch, and goes on where that ended.
  const seen: string[] = [];
  let next: string | undefined;
  let pages = 0;
  do {
    const page = await searchJobs(deps, tenant, {}, "needle", 50, next, 0);
    expect(page.jobs).toBeLessThanOrEqual(50);
    seen.push(...page.rows.map(({ id }) => id));
    next = page.next;
    pages += 1;
  } while (next !== undefined);
  expect(seen).toEqual(needles);
  expect(pages).toBeGreaterThanOrEqual(3);
});

test("jobs are listed by when they were made, by the worker that runs them, and found by their key", async () => {
  const old = await add({}, { key: "old" });
  const young = await add({}, { key: "young" });
  await deps.database.sql`UPDATE atlasqueue.jobs SET id = '01900000-0000-7000-8000-000000000001' WHERE id = ${old}`;
  const made = new Date(0x0190_0000_0000).toISOString();
  const ids = async (filter: object) => (await listJobs(deps, tenant, filter, 50, undefined)).rows.map(({ id }) => id);
  const oldest = "01900000-0000-7000-8000-000000000001";
  expect(await ids({ created_before: made })).toEqual([oldest]);
  expect(await ids({ created_after: made })).toEqual([young, oldest]);
  expect(await ids({ created_after: new Date(0x0190_0000_0001).toISOString() })).toEqual([young]);
  await lease(young);
  expect(await ids({ worker: "w-7" })).toEqual([young]);
  expect(await ids({ worker: "w-8" })).toEqual([]);
  expect((await findJobByKey(deps, tenant, "young", {}))?.id).toBe(young);
  expect(await findJobByKey(deps, "other", "young", {})).toBeUndefined();
});

test("a statement that takes too long ends a search where it is, unless it is the first", async () => {
  const ids: string[] = [];
  for (let job = 0; job < 60; job += 1) ids.unshift(await add({ to: "Ada" }));
  const failingAt = (late: number) => {
    let statements = 0;
    const database = steppingDatabase(deps.database, (step) => {
      if (step === "statement" && (statements += 1) === late) throw new DatabaseTimeoutError(1_500);
    });
    return searchJobs({ database }, tenant, {}, "ada", 100, undefined, patient_ms);
  };
  const { rows, next } = await failingAt(2);
  expect(rows.map(({ id }) => id)).toEqual(ids.slice(0, 50));
  const rest = await search("ada", {}, 100, next);
  expect(rest.rows.map(({ id }) => id)).toEqual(ids.slice(50));
  await expect(failingAt(1)).rejects.toThrow(DatabaseTimeoutError);
});
