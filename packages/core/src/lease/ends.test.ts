import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { complete, fail } from "../settle/settle.ts";
import { extendLeases } from "./extend.ts";
import { promoteDue } from "../maintenance/promote.ts";
import { recoverExpired } from "./recover.ts";
import { release } from "./release.ts";
import { engineHarness } from "../../test/engine-harness.ts";

const { deps, recorded, add, read, expire, take } = engineHarness();

const again = { kind: "retry", delay_ms: 0 } as const;

test("a renewal after the database's clock was set back moves the look at its claim as well", async () => {
  const [id] = await add({});
  const lease = await take(id);
  await deps.database.sql`UPDATE atlasqueue.jobs SET locked_until = locked_until + interval '1 day'`;
  await deps.database.sql`UPDATE atlasqueue.claims SET check_at = check_at + interval '1 day'`;
  await extendLeases(deps, [lease], 0.01);
  await eventually(async () => expect((await recoverExpired(deps, 10)).requeued).toHaveLength(1));
});

test("due jobs become ready, oldest first, whether retries or scheduled", async () => {
  const [retry] = await add({});
  await fail(deps, [{ lease: await take(retry), error: "Error", verdict: again }]);
  const [later, soon] = await add({ delay_seconds: 3_600 }, { delay_seconds: 3_600 });
  await deps.database
    .sql`UPDATE atlasqueue.jobs SET due_at = now() - interval '1 hour', run_at = now() - interval '1 hour' WHERE id = ${soon ?? ""}`;
  expect((await promoteDue(deps, 10)).map((job) => job.id)).toEqual([soon, retry]);
  expect(recorded.named("jobs_promoted")).toEqual([{ event: "jobs_promoted", scheduled: 1, retried: 1 }]);
  expect(await read(later)).toMatchObject({ status: "scheduled" });
  expect((await take(retry)).attempts).toBe(2);
});

test("a job whose worker went silent is ready again; one out of attempts is dead", async () => {
  const [first, last] = await add({}, { max_attempts: 1 });
  await Promise.all([take(first), take(last)]);
  expect(await recoverExpired(deps, 10)).toMatchObject({ requeued: [], dead: [] });
  await Promise.all([expire(first ?? ""), expire(last ?? "")]);
  const recovered = await recoverExpired(deps, 10);
  expect(recovered.requeued.map((job) => job.id)).toEqual([first]);
  expect(recovered.dead.map((job) => job.id)).toEqual([last]);
  expect(await read(first)).toMatchObject({ status: "queued", attempts: 1, lease_token: null });
  expect(await read(last)).toMatchObject({ status: "dead", dead_reason: "lease_lost" });
  expect(await deps.database.sql`SELECT outcome FROM atlasqueue.job_attempts`).toEqual([
    { outcome: "lost" },
    { outcome: "lost" },
  ]);
});

test("a worker that lost the lease can neither complete, fail, renew nor release the next holder's job", async () => {
  const [id] = await add({});
  const lost = await take(id);
  await expire(id ?? "");
  await recoverExpired(deps, 10);
  const held = await take(id);
  expect(await complete(deps, [{ lease: lost, result: "late" }])).toEqual([{ kind: "lease_lost" }]);
  expect(await fail(deps, [{ lease: lost, error: "late", verdict: again }])).toEqual([{ kind: "lease_lost" }]);
  expect(await extendLeases(deps, [lost], 30)).toMatchObject({ lost: [lost], locked: [] });
  expect(await release(deps, [lost])).toEqual({ given: [], locked: [] });
  expect(await read(id)).toMatchObject({ status: "running", lease_token: held.lease_token, attempts: 2, result: null });
});

test("a renewal extends the lease, even one that ran out unnoticed", async () => {
  const [id] = await add({});
  const lease = await take(id);
  await expire(id ?? "");
  expect(await extendLeases(deps, [lease], 60)).toMatchObject({ lost: [], locked: [] });
  expect(await recoverExpired(deps, 10)).toMatchObject({ requeued: [], dead: [] });
});

test("a released job is ready again with its attempt given back, in its old place", async () => {
  const [id] = await add({});
  const before = await read(id);
  const lease = await take(id);
  expect(await release(deps, [lease])).toEqual({ given: [lease], locked: [] });
  expect(await read(id)).toMatchObject({ status: "queued", attempts: 0, run_at: before?.run_at });
  expect(await deps.database.sql`SELECT * FROM atlasqueue.job_attempts`).toEqual([]);
});
