import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { claim, claimReady } from "./claim.ts";
import { complete, fail } from "../settle/settle.ts";
import { promoteDue } from "../maintenance/promote.ts";
import { recoverExpired } from "./recover.ts";
import { release } from "./release.ts";
import { claimer, engineHarness } from "../../test/engine-harness.ts";

const { deps, recorded, add, read, expire, take } = engineHarness();

const again = { kind: "retry", delay_ms: 0 } as const;

test("a claim takes the job, counts the attempt and mints a token", async () => {
  const [id] = await add({ payload: { a: 1 } });
  const lease = await take(id);
  const job = await read(id);
  expect(lease).toMatchObject({ id, attempts: 1, payload: { a: 1 }, worker_id: "w1" });
  expect(job).toMatchObject({ status: "running", attempts: 1, lease_token: lease.lease_token, ready_at: null });
  expect((job?.locked_until?.getTime() ?? 0) - (job?.started_at?.getTime() ?? 0)).toBe(30_000);
});

test("a job is claimed once, however many claim it at once", async () => {
  const ids = await add(...Array.from({ length: 20 }, () => ({})));
  const claims = await Promise.all(Array.from({ length: 6 }, () => claim(deps, ids, claimer)));
  expect(
    claims
      .flat()
      .map((lease) => lease.id)
      .sort(),
  ).toEqual(ids.toSorted());
});

test("junk, repeated, unknown, finished and foreign ids in a list do no harm", async () => {
  const [mine, elsewhere, done] = await add({}, { queue: "other" }, {});
  await complete(deps, [{ lease: await take(done), result: null }]);
  const unknown = "01890000-0000-7000-8000-000000000000";
  const ids = ["wake", "", "'; DROP TABLE jobs; --", unknown, elsewhere ?? "", done ?? "", mine ?? "", mine ?? ""];
  const leases = await claim(deps, ids, claimer);
  expect(leases.map((lease) => lease.id)).toEqual([mine]);
  expect(await claim(deps, [mine ?? ""], { ...claimer, tenant: "acme" })).toEqual([]);
  expect(recorded.named("lease_not_acquired")[0]).toMatchObject({ count: 7 });
});

test("without a signal, claims go by priority and then by age, over several queues", async () => {
  const [low] = await add({ priority: -1 });
  const [old] = await add({});
  const [young] = await add({ queue: "other" });
  const [high] = await add({ priority: 1, queue: "other" });
  await add({ queue: "unserved", priority: 9 });
  const both = { ...claimer, queues: ["default", "other"] };
  expect((await claimReady(deps, 3, both)).map((lease) => lease.id)).toEqual([high, old, young]);
  expect((await claimReady(deps, 3, both)).map((lease) => lease.id)).toEqual([low]);
});

test("only the holder can complete its job, and a repetition changes nothing", async () => {
  const [id] = await add({});
  const lease = await take(id);
  const stranger = { ...lease, lease_token: "01890000-0000-7000-8000-000000000000" };
  expect(await complete(deps, [{ lease: stranger, result: 1 }])).toEqual([{ kind: "lease_lost" }]);
  expect(await complete(deps, [{ lease, result: { ok: true } }])).toEqual([{ kind: "applied" }]);
  expect(await complete(deps, [{ lease, result: 2 }])).toEqual([{ kind: "applied" }]);
  expect(await read(id)).toMatchObject({ status: "succeeded", result: { ok: true }, locked_until: null, attempts: 1 });
});

test("a failed job waits for its retry, and the attempt goes to the history", async () => {
  const [id] = await add({});
  const lease = await take(id);
  const [outcome] = await fail(deps, [{ lease, error: "Error: boom", verdict: { kind: "retry", delay_ms: 60_000 } }]);
  const job = await read(id);
  expect(outcome).toEqual({ kind: "retrying", run_at: job?.run_at });
  expect(job).toMatchObject({ status: "failed", last_error: "Error: boom", attempts: 1, finished_at: null });
  expect((job?.run_at.getTime() ?? 0) - (job?.updated_at.getTime() ?? 0)).toBe(60_000);
  expect(await deps.database.sql`SELECT attempt, outcome, error, worker_id FROM atlasqueue.job_attempts`).toEqual([
    { attempt: 1, outcome: "failed", error: "Error: boom", worker_id: "w1" },
  ]);
  expect(await promoteDue(deps, 10)).toEqual([]);
});

test("a job whose last attempt failed is dead, with the reason", async () => {
  const [id] = await add({ max_attempts: 1 });
  const verdict = { kind: "dead", reason: "attempts_exhausted" } as const;
  expect(await fail(deps, [{ lease: await take(id), error: "Error: no", verdict }])).toMatchObject([{ kind: "dead" }]);
  expect(await read(id)).toMatchObject({ status: "dead", dead_reason: "attempts_exhausted", last_error: "Error: no" });
  expect((await read(id))?.finished_at).toBeInstanceOf(Date);
});

test("a failure whose answer was lost gets the same answer when repeated, whatever delay it comes with", async () => {
  const [retried, dead] = await add({}, {});
  const [lease, last] = [await take(retried), await take(dead)];
  const buried = { lease: last, error: "Error", verdict: { kind: "dead", reason: "attempts_exhausted" } } as const;
  const first = await fail(deps, [{ lease, error: "Error", verdict: again }, buried]);
  const later = { lease, error: "Error", verdict: { kind: "retry", delay_ms: 60_000 } } as const;
  expect(await fail(deps, [later, buried])).toEqual(first);
  expect((await promoteDue(deps, 10)).map(({ id }) => id)).toEqual([retried]);
  expect(await fail(deps, [later, buried])).toEqual(first);
  expect(recorded.named("lease_lost")).toEqual([]);
  expect(await deps.database.sql`SELECT FROM atlasqueue.job_attempts`).toHaveLength(2);
});

test("a failure is not answered with another's outcome: not under the next lease, nor after a success, a release or a recovery", async () => {
  const ids = await add({}, {}, {}, {});
  const [claimed, succeeded, released, recovered] = await claim(deps, ids, claimer);
  if (!claimed || !succeeded || !released || !recovered) throw new Error("four jobs were to be claimed");
  await fail(deps, [{ lease: claimed, error: "Error", verdict: again }]);
  await promoteDue(deps, 10);
  await take(claimed.id);
  await complete(deps, [{ lease: succeeded, result: null }]);
  await release(deps, [released]);
  await expire(recovered.id);
  await recoverExpired(deps, 10);
  const late = [claimed, succeeded, released, recovered].map((lease) => ({ lease, error: "late", verdict: again }));
  expect(await fail(deps, late)).toEqual(late.map(() => ({ kind: "lease_lost" })));
  expect(await complete(deps, [{ lease: claimed, result: null }])).toEqual([{ kind: "lease_lost" }]);
});

test("a repetition sees a success that commits while it waits", async () => {
  const [id] = await add({});
  const lease = await take(id);
  let repeated: ReturnType<typeof complete> | undefined;
  await deps.database.sql.begin(async (first) => {
    await first`UPDATE atlasqueue.jobs SET status = 'succeeded', finished_at = now() WHERE id = ${id ?? ""}`;
    repeated = complete(deps, [{ lease, result: null }]);
    await eventually(async () => {
      const waiting = await deps.database.sql`SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND datname = current_database()`;
      expect(waiting).toHaveLength(1);
    });
  });
  expect(await repeated).toEqual([{ kind: "applied" }]);
});
