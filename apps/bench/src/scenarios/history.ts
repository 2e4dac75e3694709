import { Redis } from "ioredis";
import postgres from "postgres";
import type { Meter, Rate } from "../costs/meter.ts";
import type { Ours } from "../variants/ours.ts";
import type { ServerUrls } from "../variants/variant.ts";
import { measureAdds } from "./add.ts";
import { measureBulkAdd } from "./bulk-add.ts";
import { measureProcess } from "./process.ts";
import { measureStats } from "./stats.ts";
import { onlyOurs, oursOf, type Effort, type Figure, type Scenario } from "./scenario.ts";

const rows_per_second_min = 10_000;
/** Of each size, one after the other. */
const turns = 3;
const turn_seconds_max = 60;

/**
 * What size costs: the same measurements on empty tables and beside a long history and a long backlog, in turns. The
 * sizes are two databases of one server, so that neither finds more of its memory free, its log longer or its disk
 * busier: tables that are always measured first, and just emptied, win by that alone. The measured jobs have their own
 * queue, the backlog is in another.
 */
export const history: Scenario = {
  name: "history",
  suits: onlyOurs,
  seconds_max: ({ history_rows, backlog_rows }) =>
    180 + 2 * turns * turn_seconds_max + (history_rows + backlog_rows) / rows_per_second_min,
  async run(variant, empty, effort, meter) {
    const ours = oursOf(variant);
    const measureAll = measurerOf(ours, meter, effort);
    const { servers: full, drop } = await besideIt(empty);
    try {
      await ours.migrate(full);
      await ours.seedHistory(full, effort.history_rows);
      await ours.seedBacklog(full, effort.backlog_rows);
      // Not counted: code is still being compiled.
      await measureAll(empty, { size: "empty", turn: 0 });
      const figures: Figure[] = [];
      for (let turn = 1; turn <= turns; turn += 1) {
        const ofEmpty = async () => {
          await startAnew(ours, empty);
          figures.push(...(await measureAll(empty, { size: "empty", turn })));
        };
        const ofFull = async () => void figures.push(...(await measureAll(full, { size: "full", turn })));
        for (const measure of turn % 2 === 1 ? [ofEmpty, ofFull] : [ofFull, ofEmpty]) await measure();
      }
      figures.push(...(await measureStats(ours, full, effort.history_rows + effort.backlog_rows)));
      const jobs = Math.min(effort.jobs, effort.backlog_rows);
      const backlog = await processBacklog(ours, full, meter, jobs);
      return [...figures, { scenario: "process the backlog, full", ...backlog }];
    } finally {
      await drop();
    }
  },
};

/** Another database of the same server, and another one of the same Redis. */
async function besideIt(servers: ServerUrls): Promise<{ servers: ServerUrls; drop(): Promise<void> }> {
  const own = new URL(servers.postgres);
  const name = `${own.pathname.slice(1)}_full`;
  const administer = async (statement: string): Promise<void> => {
    const sql = postgres(servers.postgres, { max: 1, onnotice: () => {} });
    await sql.unsafe(statement).finally(() => sql.end({ timeout: 1 }));
  };
  await administer(`CREATE DATABASE ${name}`);
  own.pathname = `/${name}`;
  const redis = new URL(servers.redis_memory);
  redis.pathname = "/1";
  return {
    servers: { ...servers, postgres: own.href, redis_memory: redis.href },
    drop: () => administer(`DROP DATABASE ${name} WITH (FORCE)`),
  };
}

type Turn = { size: "empty" | "full"; turn: number };

function measurerOf(ours: Ours, meter: Meter, effort: Effort) {
  return async (servers: ServerUrls, { size, turn }: Turn): Promise<Figure[]> => {
    // What an earlier turn has added stays in its queue.
    const queue = await ours.open(servers, { queue: `fresh-${turn}` });
    try {
      const processed = await measureProcess(queue, meter, effort.jobs);
      const added = await measureAdds(queue, meter, 50, effort);
      const bulk = await measureBulkAdd(queue, meter, effort);
      return [
        { scenario: `add, 50 callers, ${size}`, ...added },
        { scenario: `bulk add by 1,000, ${size}`, ...bulk },
        { scenario: `process, ${size}`, ...processed },
      ];
    } finally {
      await queue.close();
    }
  };
}

/** Of those that have waited, up to a number. */
async function processBacklog(ours: Ours, servers: ServerUrls, meter: Meter, jobs: number): Promise<Rate> {
  let succeeded = 0;
  const all = Promise.withResolvers<void>();
  const measurement = await meter.start();
  const worker = await ours.startWorker(servers, {
    queue: "default",
    handle() {},
    succeeded() {
      succeeded += 1;
      if (succeeded === jobs) all.resolve();
    },
  });
  await all.promise;
  return measurement.end(jobs, () => worker.stop());
}

async function startAnew(ours: Ours, servers: ServerUrls): Promise<void> {
  const redis = new Redis(servers.redis_memory);
  await redis.flushdb();
  redis.disconnect();
  await ours.emptyTables(servers);
}
