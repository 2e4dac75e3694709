import { queueDefaults, type SubmitJobInput } from "@atlasqueue/contract";
import { submission } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { advanceAndAdmit } from "../../test/advance.ts";
import { addFlow } from "../../test/add-flow.ts";
import { claimer, engineHarness, main } from "../../test/engine-harness.ts";
import { setDefaults } from "../queues/set-defaults.ts";
import { queueStats } from "../queues/stats.ts";
import { forgetEndedClaims } from "../lease/forget-claims.ts";
import { claim } from "../lease/claim.ts";
import { recoverExpired } from "../lease/recover.ts";
import { firstPage } from "../dead-letters/pages.ts";
import { purge } from "../dead-letters/bulk.ts";
import { deleteFinished } from "../jobs/delete.ts";
import { enqueue } from "../submit/enqueue.ts";
import { storeStep } from "../steps/store.ts";
import { completeAndLeaseNext } from "./complete-and-lease-next.ts";
import { complete, fail } from "./settle.ts";

const { deps, recorded, add, take, finish, die, read, status, statuses } = engineHarness();
const options = { idempotency_ttl_seconds: 60 };
const applied = { kind: "applied" };

beforeEach(() => setDefaults(deps, main, queueDefaults.parse({ keep_succeeded: false })));

const keyed = async (key: string, request: Partial<SubmitJobInput> = {}) =>
  (await enqueue(deps, [submission(request, key)], options))[0];
const rowsOf = async (table: "claims" | "job_attempts" | "idempotency_keys" | "jobs") =>
  (await deps.database.sql`SELECT FROM ${deps.database.sql(`atlasqueue.${table}`)}`).length;

test("a job is deleted as it succeeds, with its attempts; dead and cancelled ones stay, as do those of before", async () => {
  const [one, other, third] = await add({ max_attempts: 2 }, {}, {});
  const lease = await take(one);
  await fail(deps, [{ lease, error: "x", verdict: { kind: "retry", delay_ms: 0 } }]);
  await deps.database
    .sql`UPDATE atlasqueue.jobs SET status = 'queued', due_at = NULL, ready_at = now() WHERE id = ${one ?? ""}`;
  expect(await rowsOf("job_attempts")).toBe(1);
  expect(await finish(one)).toEqual([applied]);
  expect(await rowsOf("job_attempts")).toBe(0);
  await die(other);
  await setDefaults(deps, main, queueDefaults.parse({}));
  const [later] = await add({});
  await finish(third);
  await finish(later);
  expect(await statuses(one, other, third, later)).toEqual([undefined, "dead", undefined, "succeeded"]);
  expect(recorded.events.filter(({ event }) => event === "job_succeeded")).toHaveLength(3);
  const [stats] = await queueStats(deps, main.tenant);
  expect(stats?.counts).toMatchObject({ running: 0, succeeded: 1, dead: 1 });
});

test("jobs that are kept are settled with those that are deleted, each under its own lease", async () => {
  const [one, other] = await add({}, { unique: { key: "u" } });
  const [free] = await add({ queue: "free" });
  const leases = await claim(deps, [one, other, free].map(String), claimer);
  const stale = { ...leases[0], lease_token: crypto.randomUUID() } as (typeof leases)[0];
  expect(await complete(deps, [{ lease: stale, result: 1 }])).toEqual([{ kind: "lease_lost" }]);
  const completions = leases.map((lease) => ({ lease, result: 1 }));
  expect(await complete(deps, completions)).toEqual([applied, applied, applied]);
  expect(await statuses(one, other, free)).toEqual([undefined, "succeeded", "succeeded"]);
  expect(await complete(deps, completions)).toEqual([applied, applied, applied]);
});

test("a repeated settlement is answered as the first one, until a minute after its claim has ended", async () => {
  const [one] = await add({});
  const lease = await take(one);
  const again = () => complete(deps, [{ lease, result: 1 }]);
  expect([await again(), await again()]).toEqual([[applied], [applied]]);
  await forgetEndedClaims(deps, [lease.lease_token]);
  expect(await again()).toEqual([applied]);
  expect(await fail(deps, [{ lease, error: "x", verdict: { kind: "retry", delay_ms: 0 } }])).toEqual([
    { kind: "lease_lost" },
  ]);
  await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now()`;
  await recoverExpired(deps, 50);
  expect(await rowsOf("claims")).toBe(0);
  expect(await again()).toEqual([{ kind: "lease_lost" }]);
});

test("a lease that was recovered is lost, also once another one has deleted its job", async () => {
  const ids = await add({}, {});
  const [lost, open] = await claim(deps, ids, claimer);
  await deps.database.sql`UPDATE atlasqueue.jobs SET locked_until = now() WHERE id = ${lost?.id ?? ""}`;
  await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now()`;
  await recoverExpired(deps, 50);
  await finish(lost?.id);
  const completions = [lost, open].flatMap((lease) => (lease ? [{ lease, result: 1 }] : []));
  expect(await complete(deps, completions)).toEqual([{ kind: "lease_lost" }, applied]);
});

test("the sweep ends a claim of deleted jobs as any other", async () => {
  const [one] = await add({});
  const lease = await take(one);
  await complete(deps, [{ lease, result: 1 }]);
  await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now()`;
  await recoverExpired(deps, 50);
  expect(await complete(deps, [{ lease, result: 1 }])).toEqual([applied]);
});

test("an idempotency key outlives its job, and names it as succeeded to the same request", async () => {
  const first = await keyed("k", { payload: { n: 1 } });
  const id = first && "job" in first ? first.job.id : "";
  await finish(id);
  expect(await read(id)).toBeUndefined();
  expect(await keyed("k", { payload: { n: 1 } })).toMatchObject({
    kind: "replayed",
    job: { id, status: "succeeded", type: "noop", queue: "default" },
  });
  expect(await keyed("k", { payload: { n: 2 } })).toEqual({ kind: "mismatch" });
  expect(await rowsOf("jobs")).toBe(0);
  await deps.database.sql`UPDATE atlasqueue.idempotency_keys SET expires_at = now()`;
  expect(await keyed("k", { payload: { n: 2 } })).toMatchObject({ kind: "created" });
});

test("the key of a job that people removed is free again, as ever", async () => {
  const ids = [];
  for (const key of ["purged", "deleted"]) {
    const made = await keyed(key);
    ids.push(made && "job" in made ? made.job.id : "");
  }
  await die(ids[0]);
  await die(ids[1]);
  await deleteFinished(deps, main.tenant, [ids[1] ?? ""]);
  const page = firstPage({ tenant: main.tenant, ids: [ids[0] ?? ""] }, Number.MAX_SAFE_INTEGER);
  if (page) await purge(deps, page);
  expect(await rowsOf("idempotency_keys")).toBe(0);
  expect(await keyed("purged")).toMatchObject({ kind: "created" });
});

test("a job stays that a flow, a unique key, or its steps still need", async () => {
  const [unique, stepped, parent] = await add({ unique: { key: "u" } }, {}, {});
  const flow = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  const lease = await take(stepped);
  await storeStep(deps, lease, "charge", 1);
  await complete(deps, [{ lease, result: 1 }]);
  await finish(unique);
  await finish(flow.a);
  const waited_for = await take(parent);
  // As a job that came to wait for it writes it.
  await deps.database.sql`UPDATE atlasqueue.jobs SET has_children = true WHERE id = ${parent ?? ""}`;
  expect(await complete(deps, [{ lease: waited_for, result: 1 }])).toEqual([{ kind: "applied", has_children: true }]);
  expect(await statuses(unique, stepped, parent, flow.a)).toEqual(Array(4).fill("succeeded"));
});

test("the next job of its group may go, also under a worker that goes on with groups", async () => {
  const [one, two, three] = await add({ group: "g" }, { group: "g" }, { group: "g" });
  const [outcome] = await complete(deps, [{ lease: await take(one), result: 1 }]);
  expect(outcome).toMatchObject({ kind: "applied", ready: [{ id: two }] });
  const lease = await take(two);
  const done = await completeAndLeaseNext(deps, [{ lease, result: 1 }], { ...claimer, after: [lease.id] });
  expect(done.outcomes).toMatchObject([{ kind: "applied", ready: [{ id: three }] }]);
  expect(await statuses(one, two, three)).toEqual([undefined, undefined, "queued"]);
});

test("jobs of transactions have it too, and their keys outlive them", async () => {
  const { sql } = deps.database;
  const submit = () =>
    sql.begin((tx) => tx<{ id: string }[]>`SELECT atlasqueue.submit('noop', '{}', '{"idempotency_key": "k"}') AS id`);
  const [made] = await submit();
  await advanceAndAdmit(deps);
  await finish(made?.id);
  expect(await status(made?.id)).toBeUndefined();
  expect(await submit()).toEqual([{ id: made?.id }]);
  expect(await rowsOf("jobs")).toBe(0);
});
