import { expect, test } from "vitest";
import { claimer, engineHarness, tenant } from "../../test/engine-harness.ts";
import { nothingFollows } from "../../test/explorer/moves/move.ts";
import { countDrift } from "../counts/job-checks.ts";
import { claim, claimReady } from "../lease/claim.ts";
import { completeAndLeaseNext } from "../settle/complete-and-lease-next.ts";
import { expireAll } from "./expire.ts";
import { readDueSummary } from "./due-summary.ts";
import { retry } from "../jobs/retry.ts";
import { release } from "../lease/release.ts";
import { fail } from "../settle/settle.ts";
import { park } from "../steps/park.ts";

const nobody = "00000000-0000-0000-0000-000000000000";

const { deps, limit, recorded, add, addMany, besideStranger, take, read, statuses } = engineHarness();
const expire = () => expireAll({ ...deps, followUps: nothingFollows });
/** The time of all that have one is over, but of this job. */
const isOver = (but = nobody) => deps.database.sql`
  UPDATE atlasqueue.jobs SET expires_at = now() - interval '1 ms' WHERE expires_at IS NOT NULL AND id <> ${but}::uuid`;
const expired = { status: "cancelled", last_error: "expired", attempts: 0, expires_at: null };

test("a job that no claim took in time is cancelled as expired; one without expires_in waits on", async () => {
  const [queued, delayed, lasting, plain] = await add(
    { expires_in: 60 },
    { expires_in: 60, delay_seconds: 3_600 },
    { expires_in: 60 },
    {},
  );
  const stored = await read(lasting);
  expect((stored?.expires_at?.getTime() ?? 0) - (stored?.created_at.getTime() ?? 0)).toBe(60_000);
  await isOver(lasting);
  expect(await readDueSummary(deps)).toMatchObject({ any_expired: true });
  recorded.events.length = 0;
  await expire();
  expect([await read(queued), await read(delayed)]).toMatchObject([expired, expired]);
  expect(await statuses(lasting, plain)).toEqual(["queued", "queued"]);
  expect(recorded.events).toMatchObject([{ event: "job_cancelled" }, { event: "job_cancelled" }]);
  expect(await readDueSummary(deps)).toMatchObject({ any_expired: false });
  expect((await countDrift(deps, 1_000)).drifted).toEqual([]);
});

test("no claim starts a job that has expired: by its id, by age, within limits, or as the next of its group", async () => {
  await limit({ concurrency: 5 }, "limited");
  const all = { ...claimer, queues: ["default", "free", "limited"] };
  const [held, next] = await add({ group: "g" }, { group: "g", expires_in: 60 });
  const ids = await add(
    { expires_in: 60, priority: 9 },
    { queue: "free", expires_in: 60 },
    { queue: "limited", expires_in: 60, priority: 9 },
    {},
    { queue: "limited" },
  );
  const lease = await take(held);
  await isOver();
  expect((await claim(deps, ids.slice(0, 3), all)).map(({ id }) => id)).toEqual([ids[4]]);
  expect((await claimReady(deps, 1, all)).map(({ id }) => id)).toEqual([ids[3]]);
  const going = { worker_id: "w1", lease_seconds: 30, after: [lease.id] };
  const done = await completeAndLeaseNext(deps, [{ lease, result: null }], going);
  expect(done.next.size).toBe(0);
  await expire();
  expect(await statuses(held, next, ...ids.slice(0, 3))).toEqual(["succeeded", ...Array(4).fill("cancelled")]);
});

test("a released job still expires, one that began to wait for a signal does not", async () => {
  await limit({ concurrency: 5 }, "limited");
  const terms = { expires_in: 60 };
  const [one, later, limited, parked] = await add(terms, terms, { ...terms, queue: "limited" }, terms);
  const all = { ...claimer, queues: ["default", "limited"] };
  await release(deps, [await take(one), ...(await claim(deps, [limited ?? ""], all))]);
  await release(deps, [await take(later)], { later: true });
  await park(deps, { tenant, id: parked ?? "", lease_token: (await take(parked)).lease_token }, "approved", 3_600);
  await isOver();
  expect(await readDueSummary(deps)).toMatchObject({ any_expired: true });
  expect([...(await claim(deps, [one ?? "", limited ?? ""], all)), ...(await claimReady(deps, 9, all))]).toEqual([]);
  await expire();
  expect(await Promise.all([one, later, limited].map(read))).toMatchObject([expired, expired, expired]);
  expect(await read(parked)).toMatchObject({ status: "scheduled", attempts: 0, expires_at: null });
});

test("a job of which an attempt counted no longer expires, nor does its retry, nor one that is retried once it expired", async () => {
  const [running, failed, cancelled] = await add({ expires_in: 60 }, { expires_in: 60 }, { expires_in: 60 });
  await take(running);
  await fail(deps, [{ lease: await take(failed), error: "x", verdict: { kind: "retry", delay_ms: 3_600_000 } }]);
  await isOver();
  await expire();
  expect(await statuses(running, failed, cancelled)).toEqual(["running", "failed", "cancelled"]);
  const again = [failed, cancelled];
  for (const id of again) await retry(deps, tenant, id ?? "");
  await expire();
  const anew = { status: "queued", attempts: 0, expires_at: null };
  expect(await Promise.all(again.map(read))).toMatchObject([anew, anew]);
});

test("a request that replaces a job decides anew when it expires", async () => {
  const unique = { key: "u", on_conflict: "replace" as const };
  const [id] = await add({ unique, expires_in: 60 });
  await isOver();
  await add({ unique, expires_in: 120 });
  await expire();
  expect(await statuses(id)).toEqual(["queued"]);
  await add({ unique });
  expect(await read(id)).toMatchObject({ expires_at: null });
});

test("pages of many tenants' jobs expire in one go, but for those that another transaction has locked", async () => {
  const ids = await addMany(1_100, { expires_in: 60 });
  await deps.database.sql`UPDATE atlasqueue.jobs SET tenant = 'other' WHERE id < ${ids[300] ?? ""}::uuid`;
  await isOver();
  await besideStranger([ids[7]], async () => {
    await expire();
  });
  const rows = await deps.database.sql<{ status: string; jobs: number }[]>`
    SELECT status, count(*)::int AS jobs FROM atlasqueue.jobs GROUP BY status ORDER BY status`;
  expect(rows).toEqual([
    { status: "cancelled", jobs: 1_099 },
    { status: "queued", jobs: 1 },
  ]);
});

test("at the moment of its expiry a job is started or cancelled, and was started before that moment", async () => {
  for (let round = 0; round < 40; round += 1) {
    const [id = ""] = await add({ expires_in: 1 });
    const [row] = await deps.database.sql<{ moment: Date }[]>`
      UPDATE atlasqueue.jobs SET expires_at = clock_timestamp() + make_interval(secs => ${(round % 8) / 1_000}) WHERE id = ${id}
      RETURNING expires_at AS moment`;
    for (let open = true; open;) {
      await Promise.all([claim(deps, [id], claimer), claimReady(deps, 1, claimer), expire()]);
      open = (await read(id))?.status === "queued";
    }
    const job = await read(id);
    if (job?.status === "running") expect(Number(job.started_at)).toBeLessThanOrEqual(Number(row?.moment));
    else expect(job).toMatchObject(expired);
  }
});
