// @module-tag nightly
import { fileURLToPath } from "node:url";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { chance } from "@atlasqueue/harness/servers";
import { inParallel, startSystem, type Api } from "./system.ts";

/** To run more by hand: `GROUP_SEEDS=20 pnpm test:nightly packages/system-tests/system/groups.test.ts`. */
const seeds = Number(process.env["GROUP_SEEDS"] ?? 1);
const queues = ["left", "right"];
const groups = Array.from({ length: 50 }, (_, at) => `g${at}`);
const producers = 2;
const jobs_per_producer_and_group = 2;
const processes = 5;
const kills = 3;
/** There are more runs than this: failed ones are repeated. */
const total = queues.length * groups.length * producers * jobs_per_producer_and_group;

const system = forFile(startSystem);
let api: Api;
beforeAll(async () => {
  await system.sql`CREATE TABLE counters (counter text PRIMARY KEY, n int NOT NULL)`;
  await system.sql`
    CREATE TABLE runs (id bigserial PRIMARY KEY, counter text, job_id uuid, attempt int, started_at timestamptz,
                       ended_at timestamptz, counted boolean)`;
});
beforeEach(async () => {
  await system.sql`TRUNCATE counters, runs, atlasqueue.jobs`;
});

const startWorker = () =>
  system.startWorker({
    WORKER_HANDLERS: fileURLToPath(new URL("../test/group-handlers.ts", import.meta.url)),
    WORKER_QUEUES: queues.join(","),
    WORKER_CONCURRENCY: "2",
    WORKER_LEASE_SECONDS: "1",
    LOG_LEVEL: "WARNING",
  });

type Run = { counter: string; job_id: string; started_at: Date; ended_at: Date | null; counted: boolean | null };

/**
 * Submits one job at a time to each group, all groups concurrently. Some fail a few times, some until they are dead.
 */
async function produce(random: () => number): Promise<Map<string, string[]>> {
  const submitted = new Map<string, string[]>();
  const lines = queues.flatMap((queue) => groups.map((group) => ({ queue, group })));
  await inParallel(lines.length, 10, async (at) => {
    const { queue, group } = lines[at] ?? { queue: "", group: "" };
    const counter = `${queue} ${group}`;
    const ids: string[] = [];
    for (let n = 0; n < jobs_per_producer_and_group; n += 1) {
      const failures = random() < 0.2 ? Math.ceil(random() * 3) : 0;
      const payload = { counter, failures, pause_ms: random() * 5 };
      ids.push(await api.create({ type: "group.step", queue, group, max_attempts: random() < 0.1 ? 2 : 25, payload }));
    }
    submitted.set(counter, ids);
  });
  return submitted;
}

test.each(Array.from({ length: seeds }, (_, at) => at + 1))(
  "groups keep their order, one job at a time, whatever fails or is killed (seed %i)",
  async (seed) => {
    const random = chance(seed);
    for (const queue of queues)
      for (const group of groups) await system.sql`INSERT INTO counters VALUES (${`${queue} ${group}`}, 0)`;
    const starting = Promise.all(Array.from({ length: processes }, startWorker));
    const [started, workers] = await Promise.all([system.startApi({ LOG_LEVEL: "WARNING" }), starting]);
    api = started;

    const producing = Promise.all(Array.from({ length: producers }, () => produce(random)));
    for (let kill = 0; kill < kills; kill += 1) {
      // In the middle of the work, wherever it has got to.
      const at = Math.floor(random() * workers.length);
      const enough = ((kill + 1) / (kills + 1)) * total;
      await eventually(async () => expect(await runCount()).toBeGreaterThan(enough), { timeout_ms: 60_000 });
      workers[at]?.kill("SIGKILL");
      workers[at] = await startWorker();
    }
    const submitted = await producing;

    await eventually(async () => expect(await openJobs()).toBe(0), { timeout_ms: 60_000 });
    const runs = await system.sql<Run[]>`SELECT * FROM runs ORDER BY counter, started_at, id`;
    const byGroup = Map.groupBy(runs, (run) => run.counter);
    expect(byGroup.size).toBe(queues.length * groups.length);
    for (const [counter, ofGroup] of byGroup) {
      expectNoOverlap(ofGroup);
      const order = ofGroup.map((run) => run.job_id).filter((id, at, all) => id !== all[at - 1]);
      const sent = submitted.map((byCounter) => byCounter.get(counter) ?? []);
      // Each job's runs are together, each producer's jobs in order, and none is missing.
      expect(order.toSorted()).toEqual(sent.flat().toSorted());
      for (const ids of sent) expect(order.filter((id) => ids.includes(id))).toEqual(ids);
      const [row] = await system.sql<{ n: number }[]>`SELECT n FROM counters WHERE counter = ${counter}`;
      expect(row?.n, counter).toBe(ofGroup.filter((run) => run.counted).length);
    }
    await eventually(async () => {
      const [left] = await system.sql`
        SELECT count(*)::int AS groups FROM atlasqueue.job_groups`;
      expect(left).toEqual({ groups: 0 });
    });
    await Promise.all([...workers, api.process].map((one) => one.stop()));
  },
);

const runCount = async () => Number((await system.sql`SELECT count(*)::int AS n FROM runs`)[0]?.["n"]);
const openJobs = async () =>
  Number(
    (await system.sql`SELECT count(*)::int AS n FROM atlasqueue.jobs WHERE status NOT IN ('succeeded', 'dead')`)[0]?.[
      "n"
    ],
  );

/** A killed run has no end; whatever comes after it came after its lease. */
function expectNoOverlap(runs: readonly Run[]): void {
  runs.forEach((run, at) => {
    const next = runs[at + 1];
    if (next && run.ended_at) expect(next.started_at.getTime()).toBeGreaterThanOrEqual(run.ended_at.getTime());
  });
}
