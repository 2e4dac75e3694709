import { expect, test } from "vitest";
import { completeAll, claimer, engineHarness, main } from "../../test/engine-harness.ts";
import { claim, claimReady } from "../lease/claim.ts";
import type { Lease } from "../lease/lease.ts";
import { offerMark } from "./marks.ts";

// A limited queue, while someone else's transaction has locked jobs of it.

const { deps, limit, addMany, besideStranger } = engineHarness();

/** Let jobs run, one claim after the other, until one gets none; their ids. */
async function runAll(claiming: () => Promise<Lease[]>): Promise<string[]> {
  const ran: string[] = [];
  for (let leases = await claiming(); leases.length > 0; leases = await claiming()) {
    ran.push(...leases.map(({ id }) => id));
    await completeAll(deps, leases);
  }
  return ran;
}

const byAge = () => claimReady(deps, 10, claimer);
async function bySignal(): Promise<Lease[]> {
  await offerMark(deps, main);
  return claim(deps, (await deps.signal.take([main], 10)).ids, { ...claimer, more_room: () => 9 });
}

const ways = [
  ["without a signal", byAge],
  ["by their signals", bySignal],
] as const;

test.for(ways)("locked jobs in front of a limited queue stop none of those behind them: %s", async ([, claiming]) => {
  for (const limits of [{ concurrency: 2 }, { rate: { limit: 5, period_seconds: 600 } }]) {
    await deps.database
      .sql`TRUNCATE atlasqueue.jobs, atlasqueue.queue_starts, atlasqueue.queue_counts, atlasqueue.queue_changes`;
    await limit(limits);
    const ids = await addMany(7);
    expect(await besideStranger(ids.slice(0, 2), () => runAll(claiming))).toEqual(ids.slice(2));
  }
});

test.for(ways)("a locked job does not take its group's start from the next one: %s", async ([, claiming]) => {
  await limit({ group_concurrency: 3, group_rate: { limit: 1, period_seconds: 600 } });
  const ids = await addMany(3, { group: "g" });
  expect(await besideStranger(ids.slice(0, 1), () => runAll(claiming))).toEqual([ids[1]]);
});

test("a claim without a signal locks no more jobs of a limited queue than it takes", async () => {
  const group_rate = { limit: 1, period_seconds: 600 };
  for (const limits of [{ concurrency: 3 }, { group_rate }]) {
    await limit(limits);
    await addMany(100);
    await deps.database.sql`ANALYZE atlasqueue.jobs`;
    expect(await claimReady(deps, 5, claimer)).toHaveLength("concurrency" in limits ? 3 : 5);
    const left = await deps.database.sql<{ locked: boolean }[]>`
      SELECT xmax::text <> '0' AS locked FROM atlasqueue.jobs WHERE status = 'queued' ORDER BY id`;
    expect(left.filter(({ locked }) => locked)).toEqual([]);
  }
});
