import { beforeEach, expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { rowsRead } from "../../test/rows-read.ts";
import { createDueRound, type DueRound, promoteAll } from "./promote.ts";

const { deps } = engineHarness();
let goRound: DueRound;

beforeEach(() => void (goRound = createDueRound(deps)));

type Due = { tenant?: string; queue?: string; count: number; ago_seconds: number };
/** `queues` of them, named after `queue`. */
const add = async ({ tenant = "default", queue = "default", count, ago_seconds }: Due, queues = 1) => {
  await deps.database.sql`
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, run_at, due_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), ${tenant}, ${queue} || (at % ${queues}), 'noop', 'scheduled', due, due, now(), now(), '{}'
    FROM generate_series(1, ${count}) AS at, (SELECT now() - ${ago_seconds} * interval '1 second' AS due) AS moment`;
};
const waiting = async (tenant: string, queue = ""): Promise<number> => {
  const [row] = await deps.database.sql`
    SELECT count(*)::int AS count FROM atlasqueue.jobs WHERE tenant = ${tenant} AND starts_with(queue, ${queue}) AND due_at IS NOT NULL`;
  return Number(row?.["count"]);
};

test("one tenant's many due jobs hold up no other's that are due later, nor its own of other queues", async () => {
  await add({ tenant: "greedy", queue: "many", count: 12_000, ago_seconds: 60 });
  await add({ tenant: "greedy", queue: "other", count: 100, ago_seconds: 1 });
  await add({ tenant: "modest", count: 300, ago_seconds: 1 });
  expect(await promoteAll(deps, goRound)).toBeGreaterThan(10_000);
  expect(await waiting("greedy", "many")).toBeGreaterThan(0);
  expect(await waiting("greedy", "other")).toBe(0);
  expect(await waiting("modest")).toBe(0);
});

test("a tenant with thousands of queues has one share, and each queue its turn", async () => {
  await add({ tenant: "greedy", count: 12_000, ago_seconds: 60 }, 3_000);
  await add({ tenant: "modest", count: 200, ago_seconds: 1 });
  await goRound();
  expect(await waiting("modest")).toBe(0);
  for (let look = 0; look < 7; look += 1) await goRound();
  const [row] = await deps.database.sql`
    SELECT count(DISTINCT queue)::int AS queues FROM atlasqueue.jobs WHERE tenant = 'greedy' AND due_at IS NULL`;
  expect(row?.["queues"]).toBe(3_000);
});

test("it goes round all tenants, whether or not the first ones have anything due", async () => {
  await deps.database.sql`
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, run_at, due_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'a' || at, 'q', 'noop', 'scheduled', due, due, now(), now(), '{}'
    FROM generate_series(1, 450) AS at, (SELECT now() + interval '1 hour' AS due) AS moment`;
  await add({ tenant: "z", count: 1, ago_seconds: 1 });
  expect(await goRound()).toEqual([]);
  expect(await goRound()).toEqual([]);
  expect(await goRound()).toHaveLength(1);
  expect(await waiting("a")).toBe(0);
  await add({ tenant: "a1", queue: "again", count: 1, ago_seconds: 1 });
  expect(await goRound()).toHaveLength(1);
});

test("each look reads what it promotes and little more, however many are due", async () => {
  await add({ tenant: "greedy", count: 10_000, ago_seconds: 60 }, 3);
  await add({ tenant: "modest", count: 10, ago_seconds: 1 });
  await deps.database.sql`ANALYZE atlasqueue.jobs`;
  // Each statement runs twice, and each promotion finds its rows before it updates them.
  expect(await rowsRead(deps.database, (looking) => createDueRound({ ...deps, ...looking })())).toBeLessThan(2_000);
});
