// @module-tag slow
import { connectDatabase, type Database } from "@atlasqueue/core";
import { countDrift } from "@atlasqueue/core/internal/tools";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "@atlasqueue/harness";
import { between, chance } from "@atlasqueue/harness/servers";
import { findFaults, mostAtOnce } from "./flows/invariants.ts";
import { makeNoise } from "./flows/noise.ts";
import { planFlows } from "./flows/plan.ts";
import { keepRecord, leftToDo, readRecord, type Record } from "./flows/record.ts";
import { tellFaults } from "./flows/story.ts";
import { limitQueue, startWorld, stopWorld, submitFlow, type World } from "./flows/world.ts";
import { startSystem, type System } from "./system.ts";

/** `FLOW_SEEDS=20` runs the seeds 1 to 20, `FLOW_SEEDS=7,7,7` the seventh three times. */
const seeds = seedsOf(process.env["FLOW_SEEDS"] ?? "1");
const concurrency = 5;
const rate = { limit: 60, period_seconds: 1 };

let system: System;
let database: Database;
beforeAll(async () => {
  const started = await startSystem();
  await started.sql.end({ timeout: 1 });
  // A crash while the driver asks for the types of a new connection is a rejection that it hands to nobody.
  const sql = postgres(started.servers.postgres.url, { max: 2, fetch_types: false, backoff: () => 0.1 });
  system = { ...started, sql };
  await keepRecord(system);
  // So that a crash forgets what was not synced: otherwise the WAL writer soon does that.
  await system.sql.unsafe("ALTER SYSTEM SET wal_writer_delay = '10s'");
  await system.sql`SELECT pg_reload_conf()`;
  database = connectDatabase({ url: system.servers.postgres.url, connectionsMax: 1, timeoutMs: 10_000 });
});
afterAll(async () => {
  await database.close();
  await system.sql.end({ timeout: 1 });
  await system.stop();
});

test.each(seeds.map((seed, at) => [seed, at] as const))(
  "jobs that wait for jobs run in order, and none is stranded, whatever people do and whatever breaks (seed %i)",
  async (seed, at) => {
    const random = chance(seed);
    const limited = seed % 2 === 0;
    const flows = planFlows(random, between(random, 60, 200), { grouped: limited });
    const world = await startWorld(system, `seed-${seed}-${at}`);
    if (limited) await limitQueue(world, { concurrency, rate });

    const submitted = flows.reduce(
      (before, _flow, nth) => before.then(() => submitFlow(world, flows, nth)),
      Promise.resolve(),
    );
    await Promise.all([submitted, makeNoise(world, random)]);
    await untilQuiet(world, seed);

    const record = await readRecord(world);
    const faults = findFaults(record);
    if (faults.length > 0) throw new Error(`seed ${seed}: ${tellFaults(record, faults)}`);
    if (limited) expectLimits(record);
    expect((await countDrift({ database }, 100_000)).drifted, `seed ${seed}: the counts`).toEqual([]);
    expectAlive(world);
    await stopWorld(world);
  },
);

const nothing = { jobs: 0, notes: 0, overdue: 0 };

async function untilQuiet(world: World, seed: number): Promise<void> {
  await eventually(async () => expect(await leftToDo(world)).toEqual(nothing)).catch(async (error: unknown) => {
    const record = await readRecord(world);
    throw new Error(`seed ${seed} is never quiet: ${String(error)}\n${tellFaults(record, findFaults(record))}`);
  });
}

/** All but those that the noise killed, and replaced. */
const expectAlive = ({ workers, apis }: World) => {
  for (const one of [...workers, ...apis.map((api) => api.process)])
    if (!one.kill("SIGCONT")) throw new Error(`a process has ended:\n${one.errorLines.join("\n")}`);
};

function expectLimits(record: Record): void {
  expect(mostAtOnce(record, () => true)).toBeLessThanOrEqual(concurrency);
  // Of those that ran at all: people may have cancelled a whole group before any of it could start.
  const ran = [...record.jobs.values()].filter(({ runs }) => runs.length > 0);
  const groups = new Set(ran.flatMap(({ group_key }) => group_key ?? []));
  for (const group of groups)
    expect(
      mostAtOnce(record, ({ group_key }) => group_key === group),
      group,
    ).toBe(1);
}

function seedsOf(asked: string): number[] {
  if (asked.includes(",")) return asked.split(",").map(Number);
  return Array.from({ length: Number(asked) }, (_, at) => at + 1);
}
