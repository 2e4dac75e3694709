import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { claim } from "./claim.ts";
import type { Lease } from "./lease.ts";
import { extendLeases } from "./extend.ts";
import { recallLeases } from "./recall.ts";
import { recoverExpired } from "./recover.ts";

const worker = { tenant: "default", id: "gone", lease_seconds: 30 };
const { deps, add } = engineHarness();

const lease = async (): Promise<Lease[]> =>
  claim(deps, await add({}, {}), { ...worker, queues: ["default"], worker_id: worker.id });
/** As if these leases had not been renewed for that long. */
const silence = (leases: Lease[], seconds: number) =>
  deps.database.sql`
    UPDATE jobs SET locked_until = now() + (30 - ${seconds}::float8) * interval '1 second'
    WHERE id = ANY(${`{${leases.map(({ id }) => id).join(",")}}`}::uuid[])`;

test("recently renewed leases stay, the others end and are recovered", async () => {
  const [kept, lost] = await lease();
  if (!kept || !lost) throw new Error("two jobs were leased");
  expect(await recallLeases(deps, worker, 5, 10)).toMatchObject({ recalled: 0, open: 2 });
  await silence([kept, lost], 6);
  await extendLeases(deps, [kept], 30);
  expect(await recallLeases(deps, worker, 5, 10)).toMatchObject({ recalled: 1, open: 1 });
  expect((await recoverExpired(deps, 10)).requeued).toMatchObject([{ id: lost.id }]);
  expect((await extendLeases(deps, [kept], 30)).lost).toEqual([]);
});

test("a renewal between the end of a lease and its recovery keeps the job", async () => {
  const leases = await lease();
  await silence(leases, 6);
  expect(await recallLeases(deps, worker, 5, 10)).toMatchObject({ recalled: 2 });
  expect((await extendLeases(deps, leases, 30)).lost).toEqual([]);
  expect((await recoverExpired(deps, 10)).requeued).toEqual([]);
});

test("jobs of another tenant's worker with the same name are left alone", async () => {
  await silence(await lease(), 6);
  expect(await recallLeases(deps, { ...worker, tenant: "acme" }, 5, 10)).toMatchObject({ recalled: 0, open: 0 });
});
