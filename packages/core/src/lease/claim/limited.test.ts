import { type QueueLimitsInput } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { claimer, engineHarness, tenant } from "../../../test/engine-harness.ts";
import { openDatabase } from "../../../test/opened.ts";
import { claim, claimReady } from "../claim.ts";
import type { Lease } from "../lease.ts";

const { deps, add, limit, url } = engineHarness();
const queues = ["a", "b", "c"];
const serving = { ...claimer, queues };

async function limitAll(limits: QueueLimitsInput): Promise<void> {
  for (const queue of queues) await limit(limits, queue);
}

/** What is claimed, and the queues whose rows are locked for it: each lock leaves its transaction's number. */
async function lockedFor(claiming: () => Promise<Lease[]>): Promise<{ ran: string[]; locked: string[] }> {
  const look = () => deps.database.sql<{ queue: string; holder: string }[]>`
    SELECT queue, xmax::text AS holder FROM atlasqueue.queues ORDER BY queue`;
  const before = new Map((await look()).map(({ queue, holder }) => [queue, holder]));
  const ran = (await claiming()).map(({ id }) => id);
  const locked = (await look()).filter(({ queue, holder }) => holder !== before.get(queue));
  return { ran, locked: locked.map(({ queue }) => queue) };
}

test("a claim locks no limited queue but those of its ids, and without ids those that have a ready job", async () => {
  await limitAll({ concurrency: 5 });
  const [a = "", b = ""] = await add({ queue: "a" }, { queue: "b" });
  expect(await lockedFor(() => claim(deps, [b], serving))).toEqual({ ran: [b], locked: ["b"] });
  expect(await lockedFor(() => claim(deps, [b], serving))).toEqual({ ran: [], locked: ["b"] });
  expect(await lockedFor(() => claimReady(deps, 10, serving))).toEqual({ ran: [a], locked: ["a"] });
});

test("a claim looks through the changes of counts once, however many limited queues its ids are in", async () => {
  const own = openDatabase({ url: url(), connectionsMax: 1, timeoutMs: 10_000 });
  await limitAll({ concurrency: 5 });
  const ids = await add(...queues.map((queue) => ({ queue })));
  await own.sql`
    INSERT INTO atlasqueue.queue_changes (tenant, queue, running) SELECT ${tenant}, 'other', 0 FROM generate_series(1, 1000)`;
  const rowsRead = async () => {
    await own.sql`SELECT pg_stat_force_next_flush()`;
    const [row] = await own.sql<{ rows: number }[]>`
      SELECT seq_tup_read::int AS rows FROM pg_stat_user_tables WHERE relname = 'queue_changes'`;
    return row?.rows ?? 0;
  };
  const before = await rowsRead();
  expect(await claim({ ...deps, database: own }, ids, serving)).toHaveLength(3);
  const read = (await rowsRead()) - before;
  expect([read >= 1_000, read < 2_000]).toEqual([true, true]);
});
