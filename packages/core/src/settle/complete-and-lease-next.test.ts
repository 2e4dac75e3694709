import { brokenConnection, steppingDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { countDrift } from "../counts/job-checks.ts";
import type { Deps } from "../deps.ts";
import { advanceOverdue } from "../groups/overdue.ts";
import { cancel } from "../jobs/cancel.ts";
import { claim } from "../lease/claim.ts";
import type { Lease } from "../lease/lease.ts";
import { revokeClaim } from "../lease/release.ts";
import { pauseQueue } from "../queues/pause.ts";
import { completeAndLeaseNext } from "./complete-and-lease-next.ts";
import { claimer, engineHarness, main } from "../../test/engine-harness.ts";

const { deps, add, besideStranger, limit, statuses, take } = engineHarness({ group: "g" });

const goOn = async (
  leases: Lease[],
  over: Partial<Parameters<typeof completeAndLeaseNext>[2]> & { deps?: Deps } = {},
) => {
  const completions = leases.map((lease) => ({ lease, result: null }));
  const after = leases.map(({ id }) => id);
  const done = await completeAndLeaseNext(over.deps ?? deps, completions, {
    worker_id: "w1",
    lease_seconds: 30,
    after,
    ...over,
  });
  const ready = done.outcomes.flatMap((one) => (one.kind === "applied" && one.ready?.map(({ id }) => id)) || []);
  return { kinds: done.outcomes.map(({ kind }) => kind), next: [...done.next.values()], ready };
};
/** What the sweep lets through. */
const advance = async () => {
  await deps.database.sql`UPDATE atlasqueue.job_groups SET overdue_at = now()`;
  return (await advanceOverdue(deps, 100)).ready.map(({ id }) => id);
};
const drifted = async () => (await countDrift(deps, 1_000)).drifted;

test("the settlement of a job leases the next of its group, under a token of its own", async () => {
  const [a, b, c] = await add({}, { payload: { n: 2 } }, {});
  const first = await take(a);
  expect(first.followed).toBe(true);
  const { kinds, next } = await goOn([first]);
  expect(kinds).toEqual(["applied"]);
  expect(next).toMatchObject([{ id: b, attempts: 1, payload: { n: 2 }, group_key: "g", tenant: "default" }]);
  expect(next[0]?.lease_token).not.toBe(first.lease_token);
  expect(await statuses(a, b, c)).toEqual(["succeeded", "running", "blocked"]);
  expect(await deps.database.sql`SELECT FROM atlasqueue.claims WHERE job_ids = ARRAY[${b ?? ""}::uuid]`).toHaveLength(
    1,
  );
  const last = await goOn(next);
  expect(last.next).toMatchObject([{ id: c }]);
  expect(await goOn(last.next)).toMatchObject({ next: [], ready: [] });
  expect(await drifted()).toEqual([]);
  expect(await deps.database.sql`SELECT FROM atlasqueue.job_groups`).toEqual([]);
});

test("hundreds of groups go on together, and of those that were not asked for the next may go", async () => {
  const names = Array.from({ length: 300 }, (_, at) => ({ group: `g${at}` }));
  const firsts = await add(...names);
  const seconds = await add(...names);
  const leases = await claim(deps, firsts, claimer);
  const { next, ready } = await goOn(leases, { after: firsts.slice(0, 299) });
  expect(next.map(({ id }) => id).toSorted()).toEqual(seconds.slice(0, 299).toSorted());
  expect(ready).toEqual(seconds.slice(299));
  expect(await drifted()).toEqual([]);
});

test("a lease says whether others wait behind it; one without a group says nothing", async () => {
  const [a, , alone, none] = await add({}, {}, { group: "alone" }, { group: undefined });
  expect([(await take(a)).followed, (await take(alone)).followed, (await take(none)).followed]).toEqual([
    true,
    false,
    null,
  ]);
});

test("a job that comes while the turn is passed on waits behind, and another look lets no second one through", async () => {
  const [a, b] = await add({}, {});
  const { next } = await goOn([await take(a)]);
  const [c] = await add({});
  expect([await advance(), await statuses(b, c)]).toEqual([[], ["running", "blocked"]]);
  expect((await goOn(next)).next).toMatchObject([{ id: c }]);
  expect([await advance(), await statuses(c), (await add({})).length]).toEqual([[], ["running"], 1]);
  expect((await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE status = 'blocked'`).length).toBe(1);
});

test("while another transaction holds a group, its turn is passed on, and only the last of it is not settled", async () => {
  const [a, last, alone] = await add({}, { group: "h" }, { group: undefined });
  const [b] = await add({});
  const leases = await Promise.all([a, last, alone].map(take));
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.job_groups FOR UPDATE`;
    const { kinds, next } = await goOn(leases);
    expect([kinds, next.map(({ id }) => id)]).toEqual([["applied", "locked", "applied"], [b]]);
  });
  expect(await goOn(leases.slice(1, 2))).toEqual({ kinds: ["applied"], next: [], ready: [] });
  expect(await drifted()).toEqual([]);
});

test.each([
  ["paused", async () => void (await pauseQueue(deps, main))],
  ["limited", async () => void (await limit({ concurrency: 5 }))],
  ["open to several of a group", async () => void (await limit({ group_concurrency: 2 }))],
])("in a queue that is %s the next is not leased", async (_name, change) => {
  const [a, b] = await add({}, {});
  const lease = await take(a);
  await change();
  expect(await goOn([lease])).toEqual({ kinds: ["applied"], next: [], ready: [b] });
  expect([await statuses(a, b), await drifted()]).toEqual([["succeeded", "queued"], []]);
});

test("one that is not due, locked by another transaction, or cancelled meanwhile is not overtaken", async () => {
  const [a, b, c] = await add({}, { delay_seconds: 60 }, {});
  expect(await goOn([await take(a)])).toMatchObject({ next: [], ready: [] });
  expect(await statuses(b, c)).toEqual(["scheduled", "blocked"]);

  const [d, e, f] = await add({ group: "h" }, { group: "h" }, { group: "h" });
  const lease = await take(d);
  await besideStranger([e], async () => {
    expect((await goOn([lease])).next).toEqual([]);
  });
  await cancel(deps, "default", e ?? "");
  expect([await advance(), await statuses(e, f)]).toEqual([[f], ["cancelled", "queued"]]);
});

test("a settlement that is repeated takes no job, even if the next one was locked the first time", async () => {
  const [a, b] = await add({}, {});
  const lease = await take(a);
  await besideStranger([b], async () => {
    expect(await goOn([lease])).toEqual({ kinds: ["applied"], next: [], ready: [] });
  });
  expect(await goOn([lease])).toEqual({ kinds: ["applied"], next: [], ready: [b] });
  expect(await statuses(b)).toEqual(["queued"]);
});

test("a lease that was lost takes nothing", async () => {
  const [a, b] = await add({}, {});
  const lease = await take(a);
  await deps.database.sql`UPDATE atlasqueue.jobs SET lease_token = gen_random_uuid() WHERE id = ${a ?? ""}`;
  expect(await goOn([lease])).toEqual({ kinds: ["lease_lost"], next: [], ready: [] });
  expect(await statuses(a, b)).toEqual(["running", "blocked"]);
});

test("what was taken goes back if the rest of the batch cannot be settled", async () => {
  const [a, last] = await add({}, { group: "h" });
  const [b] = await add({});
  const leases = await Promise.all([a, last].map(take));
  const database = steppingDatabase(deps.database, (step, _number, text) => {
    if (step === "statement" && text.includes("failed_as")) throw brokenConnection();
  });
  const unanswered: string[] = [];
  const broken = goOn(leases, { deps: { ...deps, database }, unanswered: (token) => void unanswered.push(token) });
  await expect(broken).rejects.toThrow();
  for (const token of unanswered) await revokeClaim(deps, "default", token);
  expect((await goOn(leases)).kinds).toEqual(["applied", "applied"]);
  const [job] = await deps.database.sql`SELECT status, attempts FROM atlasqueue.jobs WHERE id = ${b ?? ""}`;
  expect(job).toEqual({ status: "queued", attempts: 0 });
  expect(await drifted()).toEqual([]);
});

test("of payloads that are too heavy together some may go without being leased", async () => {
  const names = Array.from({ length: 20 }, (_, at) => ({ group: `g${at}` }));
  const firsts = await add(...names);
  await add(...names.map((one) => ({ ...one, payload: { heavy: "x".repeat(250_000) } })));
  const leases = await claim(deps, firsts, claimer);
  const { next, ready } = await goOn(leases);
  expect(next.length + ready.length).toBe(20);
  expect(Math.min(next.length, ready.length)).toBeGreaterThan(0);
});
