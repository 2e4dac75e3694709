// @module-tag nightly
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { QueueJob } from "@atlasqueue/core";
import { pause } from "@atlasqueue/core/internal";
import { readPlace } from "@atlasqueue/core/internal/tools";
import { commandFile, eventually, ownServers, spawnProcess } from "@atlasqueue/harness";
import { defineHandler } from "@atlasqueue/worker";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { expectTrueCounts, queueOf, rowsOf, tenant, twoCells, workOn, type TestCell } from "./two-cells.ts";

const jobs_later = 80_000;
const groups = 100;
const jobs_of_group = 150;
const dead = 1_000;
const flows = 200;
/** Of the load, every tenth of a second. */
const batch = 20;

type Cells = readonly [TestCell, TestCell];

/** What ran, in both cells: how often each job, and the numbers of each group in their order. */
function createRecord() {
  const runs = new Map<string, number>();
  const places = new Map<string, number[]>();
  const note = (id: string) => void runs.set(id, (runs.get(id) ?? 0) + 1);
  const fails = defineHandler("fails", z.looseObject({}), async () => {
    throw new Error("no");
  });
  const plain = defineHandler("plain", z.looseObject({}), async (_payload, { job }) => note(job.id));
  const grouped = defineHandler(
    "grouped",
    z.looseObject({ g: z.string(), n: z.number() }),
    async ({ g, n }, { job }) => {
      note(job.id);
      places.set(g, [...(places.get(g) ?? []), n]);
    },
  );
  return { runs, places, handlers: [fails, plain, grouped] };
}

async function fill([home]: Cells): Promise<string[]> {
  const queue = queueOf(home);
  const many = (count: number, job: (n: number) => QueueJob) => Array.from({ length: count }, (_, n) => job(n));
  const submitted = await queue.submitMany([
    ...many(dead, () => ({ type: "fails", queue: "bad", max_attempts: 1 })),
    ...many(jobs_later, (n) => ({ type: "plain", delay_seconds: 86_400, idempotency_key: `later-${n}` })),
    ...many(groups * jobs_of_group, (at) => {
      const [g, n] = [`g${at % groups}`, Math.floor(at / groups)];
      return { type: "grouped", queue: "groups", group: g, payload: { g, n }, idempotency_key: `${g}-${n}` };
    }),
  ]);
  for (let at = 0; at < flows; at += 1)
    await queue.submitFlow({
      jobs: [
        { type: "plain", ref: "a", queue: "flows" },
        { type: "plain", ref: "b", queue: "flows", depends_on: ["a"] },
        { type: "plain", queue: "flows", depends_on: ["b"] },
      ],
    });
  await queue.schedules.put({
    name: "minutely",
    cron: "* * * * *",
    timezone: "UTC",
    job: { type: "plain", queue: "cron" },
  });
  return submitted.map(({ id }) => id);
}

/** Submits as an API does: to the cell of the map, which it keeps for up to 2 s, and again with the same key after a failure. */
function createLoad(cells: Cells) {
  const ids = new Map<string, string>();
  const queues = new Map(cells.map((cell) => [cell.name, queueOf(cell)]));
  const stop = new AbortController();
  let refused_ms = 0;
  const run = async () => {
    let known = { cell: "home", moving_to: null as string | null, at: -Infinity };
    for (let at = 0; !stop.signal.aborted;) {
      const now = performance.now();
      if (now - known.at > 2_000) known = { ...(await readPlace(cells, tenant)), at: now };
      const jobs = Array.from({ length: batch }, (_, n) => ({ type: "plain", idempotency_key: `load-${at}-${n}` }));
      if (known.moving_to === null) {
        const submitted = await queues.get(known.cell)?.submitMany(jobs);
        for (const [n, { id }] of submitted?.entries() ?? []) ids.set(`load-${at}-${n}`, id);
        at += 1;
      } else refused_ms += 100;
      await pause(100, stop.signal);
    }
  };
  const running = run();
  const end = async () => {
    stop.abort();
    await running;
    return { ids, refused_ms };
  };
  return { end, count: () => ids.size };
}

test(
  "a tenant of 100,000 jobs moves three times under load, and its mover is killed twice",
  { timeout: 900_000 },
  async () => {
    const servers = await Promise.all([ownServers(), ownServers()]);
    onTestFinished(async () => void (await Promise.all(servers.map((one) => one.stop()))));
    const [a, b] = servers;
    const cells: Cells = await twoCells([a.postgres.url, b.postgres.url]);
    const file = join(tmpdir(), `cells-${process.pid}.json`);
    const settings = cells.map(({ name, common }) => ({
      name,
      DATABASE_URL: common.databaseUrl,
      DATABASE_SCHEMA: common.schema,
      REDIS_URL: common.redisUrl,
      JOB_QUEUE_KEY: common.keys.jobs,
      DLQ_KEY: common.keys.deadLetters,
    }));
    await writeFile(file, JSON.stringify(settings));
    const move = (name: string) =>
      spawnProcess(commandFile, { args: ["cells", "move", tenant, name], env: { CELLS_FILE: file } });
    const told: string[] = [];
    const whole = async (name: string) => {
      const began = performance.now();
      const mover = await move(name);
      const { code } = await mover.waitForExit(300_000);
      told.push(`to ${name} in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
      expect([code, ...(code === 0 ? [] : mover.errorLines)]).toEqual([0]);
    };

    const first = await fill(cells);
    const record = createRecord();
    const worker = { queues: ["default", "bad", "groups", "flows", "cron"], concurrency: 20 };
    for (const cell of cells) workOn(cell, record.handlers, worker);
    const load = createLoad(cells);
    await eventually(() => expect(load.count()).toBeGreaterThan(200), { timeout_ms: 60_000 });

    // Killed while it copies, and while it clears the old cell.
    for (const line of ["Copying", "clearing the old cell"]) {
      const mover = await move("east");
      await mover.waitForLine(line, 180_000);
      // In the middle of it.
      await pause(150);
      await mover.stop();
      told.push(`killed at ${line}`);
    }
    await whole("east");
    await whole("home");
    await whole("east");
    const { ids, refused_ms } = await load.end();

    const [home, east] = cells;
    const statuses = async () => {
      const counts = await east.database.sql<{ status: string; count: number }[]>`
      SELECT status, count(*)::int FROM east.jobs GROUP BY status ORDER BY status`;
      return Object.fromEntries(counts.map(({ status, count }) => [status, count]));
    };
    await eventually(async () => expect(Object.keys(await statuses())).toEqual(["dead", "scheduled", "succeeded"]), {
      timeout_ms: 120_000,
    });
    expect(await statuses()).toMatchObject({ dead, scheduled: jobs_later });
    expect((await rowsOf(home))["jobs"]).toBeUndefined();
    const attempts = await east.database.sql`SELECT id FROM east.jobs WHERE attempts > 1`;
    const twice = [...record.runs.values()].filter((runs) => runs > 1).length;
    expect(twice).toBeLessThanOrEqual(attempts.length);
    for (const id of ids.values()) expect(record.runs.get(id)).toBeGreaterThanOrEqual(1);
    expect(record.places.size).toBe(groups);
    for (const places of record.places.values())
      expect(places.filter((n, at) => n !== places[at - 1])).toEqual(
        Array.from({ length: jobs_of_group }, (_, n) => n),
      );
    const again = queueOf(east);
    const repeated = await again.submitMany(
      [...ids.keys()].slice(0, 500).map((key) => ({ type: "plain", idempotency_key: key })),
    );
    expect(repeated.map(({ id, created }) => [id, created])).toEqual(
      [...ids.values()].slice(0, 500).map((id) => [id, false]),
    );
    const later = await again.submitMany([{ type: "plain", delay_seconds: 86_400, idempotency_key: "later-7" }]);
    expect(later).toMatchObject([{ id: first[dead + 7], created: false }]);
    expect((await east.signal.deadLetters.look()).length).toBe(dead);
    expect((await home.signal.deadLetters.look()).length).toBe(0);
    await expectTrueCounts(home, east);
    expect(await east.database.sql`SELECT FROM east.audit_log WHERE action = 'tenant.move'`).toHaveLength(3);
    process.stdout.write(
      `${told.join("; ")}; ${ids.size} jobs of the load, refused for ${refused_ms / 1_000} s in all; ran twice: ${twice}, ` +
        `attempts counted twice: ${attempts.length}\n`,
    );
  },
);
