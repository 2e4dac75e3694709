import { Redis } from "ioredis";
import postgres from "postgres";
import type { Meter } from "../../costs/meter.ts";
import type { Ours } from "../../variants/ours.ts";
import type { ServerUrls } from "../../variants/variant.ts";
import { measureAdds } from "../add.ts";
import { measureBulkAdd } from "../bulk-add.ts";
import { measureProcess } from "../process.ts";
import { processAtMost } from "./process-at-most.ts";
import { measureStats } from "./stats.ts";
import { onlyOurs, oursOf, type Effort, type Figure, type Scenario } from "../scenario.ts";

const rows_per_second_min = 10_000;
/** Of each size, one after the other. */
const turns = 3;
const turn_seconds_max = 60;
/** Of the history, when `process` is measured on the way to the whole. */
const parts = [0, 0.05, 0.25, 1];

/**
 * What size costs: the same measurements on empty tables and beside a long history and a long backlog, in turns. The
 * sizes are two databases of one server, so that neither finds more of its memory free, its log longer or its disk
 * busier: tables that are always measured first, and just emptied, win by that alone. The measured jobs have their own
 * queue, the backlog is in another.
 */
export const history: Scenario = {
  name: "history",
  suits: onlyOurs,
  rounds_max: 1,
  minutes: 20,
  seconds_max: ({ history_rows, backlog_rows }) =>
    180 + 2 * turns * turn_seconds_max + (history_rows + backlog_rows) / rows_per_second_min,
  async run(variant, empty, effort, meter) {
    const ours = oursOf(variant);
    const measureAll = measurerOf(ours, meter, effort);
    const { servers: full, drop } = await besideIt(empty);
    try {
      await ours.migrate(full);
      const points = await seedInParts(ours, full, meter, effort);
      await ours.seedBacklog(full, effort.backlog_rows);
      // Not counted: code is still being compiled.
      await measureAll(empty, { size: "empty", turn: 0 });
      const figures = points;
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
      const backlog = await processAtMost(ours, full, meter, { jobs, queue: "default" });
      return [...figures, { scenario: "process the backlog, full", ...backlog }];
    } finally {
      await drop();
    }
  },
};

/** Rates on the way there: each once, after one that warms up. */
async function seedInParts(ours: Ours, servers: ServerUrls, meter: Meter, effort: Effort): Promise<Figure[]> {
  const figures: Figure[] = [];
  let there = 0;
  for (const [at, part] of [0, ...parts].entries()) {
    const rows = Math.ceil(effort.history_rows * part);
    if (rows > there) await ours.seedHistory(servers, effort.history_rows, [there, rows]);
    there = rows;
    const queue = await ours.open(servers, { queue: `point-${at}` });
    const rate = await measureProcess(queue, meter, effort.jobs).finally(() => queue.close());
    const curve = { name: "process with a history", by: "finished jobs", x: rows };
    if (at > 0) figures.push({ scenario: `process, ${rows.toLocaleString("en")} finished jobs`, ...rate, curve });
  }
  return figures;
}

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
      const rates = { "add, 50 callers": added, "bulk add by 1,000": bulk, process: processed };
      return Object.entries(rates).map(([rate, measured]) => ({ scenario: `${rate}, ${size}`, ...measured }));
    } finally {
      await queue.close();
    }
  };
}

async function startAnew(ours: Ours, servers: ServerUrls): Promise<void> {
  const redis = new Redis(servers.redis_memory);
  await redis.flushdb();
  redis.disconnect();
  await ours.emptyTables(servers);
}
