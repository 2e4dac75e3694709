import { expect, test } from "vitest";
import { steppingDatabase, submission } from "@atlasqueue/testing";
import { engineHarness } from "../../../test/engine-harness.ts";
import { executeOn } from "../../database/statement.ts";
import { draft } from "../drafts.ts";
import { enqueue } from "../enqueue.ts";
import type { Admitted, ArrivedJob } from "./admit.ts";
import { admitAll } from "./admitter.ts";
import { newArrivalsCursor } from "./arrivals-round.ts";
import { arrive } from "./arrive.ts";
import { createArrivalLine } from "./line.ts";

const { deps } = engineHarness();

/** A tenant's arrivals, one after the other, in so many groups. */
const arriveOf = async (tenant: string, count: number, groups = count): Promise<ArrivedJob[]> => {
  const drafts = Array.from({ length: count }, (_, at) =>
    draft({ ...submission({ group: `g-${at % groups}` }), tenant }),
  );
  await arrive(executeOn(deps.database), drafts, 60);
  return drafts.map(({ id }) => ({ id, tenant }));
};
/** Tenants in the order in which their jobs were admitted. */
const recording = () => {
  const order: string[] = [];
  const admitted = async ({ outcomes }: Pick<Admitted, "outcomes">) => {
    for (const one of outcomes) if (one.kind === "created") order.push(one.job.tenant);
  };
  return { order, admitting: { ...deps, followUps: { admitted } } };
};
const tenantsLeft = async () =>
  (await deps.database.sql<{ tenant: string }[]>`SELECT DISTINCT tenant FROM atlasqueue.arrivals`).map(
    ({ tenant }) => tenant,
  );
const page = 200;

test("a tenant's one arrival does not wait for another's thousand that came before it", async () => {
  const before = await arriveOf("greedy", 1_000);
  const one = await arriveOf("modest", 1);
  const { order, admitting } = recording();
  const line = createArrivalLine(admitting);
  line.arrived([...before, ...one]);
  await line.idle();
  expect(order).toHaveLength(1_001);
  expect(order.indexOf("modest")).toBeLessThan(page);
});

test("nor for the thousand ahead of another's one in its group", async () => {
  const before = await arriveOf("greedy", 1_000, 1);
  const one = await arriveOf("modest", 1);
  const { order, admitting } = recording();
  const line = createArrivalLine(admitting);
  line.arrived([...before.slice(-1), ...one]);
  await line.idle();
  expect(order).toHaveLength(1_001);
  expect(order.indexOf("modest")).toBeLessThan(page);
  const places = await deps.database.sql<{ id: string }[]>`
    SELECT id FROM atlasqueue.jobs WHERE tenant = 'greedy' ORDER BY active_group_key, group_seq`;
  expect(places.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
});

test("what arrives while a tenant's thousands are admitted comes with the next page", async () => {
  const before = await arriveOf("greedy", 1_000);
  const { order, admitting } = recording();
  let came_after: number | undefined;
  const line = createArrivalLine({
    ...admitting,
    followUps: {
      async admitted(all) {
        await admitting.followUps.admitted(all);
        if (came_after !== undefined) return;
        came_after = order.length;
        line.arrived(await arriveOf("modest", 1));
      },
    },
  });
  line.arrived(before);
  await line.idle();
  expect(order.indexOf("modest")).toBeLessThan((came_after ?? 0) + page);
});

test("a job that cannot be admitted does not end the line: the pages behind its own follow", async () => {
  const jobs = await arriveOf("greedy", 450);
  const { order, admitting } = recording();
  await deps.database.sql.unsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '22000'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON atlasqueue.arrivals FOR EACH ROW WHEN (OLD.job_id = '${jobs[4]?.id}') EXECUTE FUNCTION refuse()`);
  try {
    const line = createArrivalLine(admitting);
    line.arrived(jobs);
    await line.idle();
    expect(order).toHaveLength(449);
  } finally {
    await deps.database.sql.unsafe("DROP TRIGGER refuse ON atlasqueue.arrivals; DROP FUNCTION refuse()");
  }
});

test("a sweep's first page has arrivals of every tenant, and it goes on where the last one ended", async () => {
  await arriveOf("greedy", 500);
  await arriveOf("modest", 1);
  const { admitting } = recording();
  const cursor = newArrivalsCursor();
  expect((await admitAll(admitting, cursor, 1)).admitted).toBe(101);
  expect(await tenantsLeft()).toEqual(["greedy"]);
  expect((await admitAll(admitting, cursor, 1)).admitted).toBe(200);
  expect((await admitAll(admitting, cursor)).admitted).toBe(200);
});

test("tenants that are more than a page holds take turns too", { tags: ["slow"] }, async () => {
  for (let at = 0; at < 250; at += 1) await arriveOf(`t-${at}`, 2);
  const { order, admitting } = recording();
  const cursor = newArrivalsCursor();
  await admitAll(admitting, cursor, 1);
  await admitAll(admitting, cursor, 1);
  expect(new Set(order).size).toBe(250);
  await admitAll(admitting, cursor);
  expect(order).toHaveLength(500);
  expect(await tenantsLeft()).toEqual([]);
});

test("nor for one whose unique keys change between each look and its statement", async () => {
  const keyed = { group: "g", unique: { key: "k", on_conflict: "replace" }, delay_seconds: 600 } as const;
  const change = async (n: number) => {
    const options = { idempotency_ttl_seconds: 60 };
    await enqueue(deps, [{ ...submission({ ...keyed, payload: { n } }), tenant: "greedy" }], options);
  };
  await change(0);
  const pair = [keyed, { group: "g" }].map((one) => draft({ ...submission(one), tenant: "greedy" }));
  await arrive(executeOn(deps.database), pair, 60);
  await arriveOf("modest", 1);
  const { order, admitting } = recording();
  let changes = 0;
  const database = steppingDatabase(deps.database, async (kind, _n, text) => {
    if (kind === "statement" && text.includes("able AS MATERIALIZED")) await change((changes += 1));
  });
  await admitAll({ ...admitting, database });
  expect(changes).toBeGreaterThan(1);
  expect(order).toEqual(["modest"]);
  expect(await tenantsLeft()).toEqual(["greedy"]);
  await admitAll(admitting);
  expect(await tenantsLeft()).toEqual([]);
});
