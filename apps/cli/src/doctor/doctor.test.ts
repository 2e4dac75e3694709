import { createQueue, redisSignal } from "@atlasqueue/core";
import type { WorkerPresence } from "@atlasqueue/core/internal/worker";
import {
  createDatabase,
  forFile,
  ownRedis,
  postgresUrl,
  redisUrl,
  testDatabase,
  uniqueKeys,
} from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { runCli, type Said } from "../../test/run-cli.ts";
import type { Check } from "./check.ts";

// Neither a worker nor an API: what is wrong stays wrong.
const { jobsKey, dlqKey } = uniqueKeys();
const keys = { jobs: jobsKey, deadLetters: dlqKey };
const store = forFile(testDatabase);
const queue = forFile(async () => createQueue({ databaseUrl: store.url, redisUrl: redisUrl(), keys }));
const signal = forFile(async () => redisSignal({ url: redisUrl(), keys, timeoutMs: 5_000 }));
const run = (words: string[], others: Record<string, string> = {}) => {
  const servers = { DATABASE_URL: store.url, REDIS_URL: redisUrl(), JOB_QUEUE_KEY: jobsKey, DLQ_KEY: dlqKey };
  return runCli(words, { ...servers, ...others });
};
const doctor = async (...words: string[]) => {
  // However slow the machine, only jobs that a test left waiting count as waiting.
  await store.database.sql`UPDATE atlasqueue.jobs SET ready_at = now() WHERE ready_at IS NOT NULL AND queue <> 'left'`;
  return run(["doctor", ...words]);
};

const served = { tenant: "default", queues: ["left"], handlers: [], lease_seconds: 30 };
const announced = { ...served, host: "h", pid: 7, concurrency: 2 };

const stateOf = ({ stdout }: Said) =>
  Object.fromEntries((JSON.parse(stdout) as { checks: Check[] }).checks.map(({ name, state }) => [name, state]));
const well = {
  Postgres: "ok",
  Redis: "ok",
  schema: "ok",
  clocks: "ok",
  connections: "ok",
  settings: "ok",
  sweep: "ok",
  groups: "ok",
  flows: "ok",
  counts: "ok",
  jobs: "ok",
  workers: "ok",
  waiting: "ok",
  "Redis owner": "ok",
  "wake-ups": "ok",
  "dead letters": "ok",
};

test("where all is well, each line says so and the exit code is 0", async () => {
  await queue.submit({ type: "a", queue: "well" });
  const { code, stdout } = await doctor();
  expect(code).toBe(0);
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => line[0]),
  ).toEqual(Object.keys(well).map(() => "✓"));
  expect(stdout).toMatch(/^✓ connections +\d+ of the server's \d+ are open, \d+ of them busy; \d+ are AtlasQueue's$/m);
  expect(stateOf(await doctor("--json"))).toEqual(well);
});

test("signals lost by Redis are found, and rebuilt in order", async () => {
  const ids: string[] = [];
  for (const priority of [0, 5, 0, -5]) ids.push((await queue.submit({ type: "a", queue: "lost", priority })).id);
  const lost = { tenant: "default", queue: "lost" };
  expect((await signal.take([lost], 10)).ids).toHaveLength(4);
  const found = await doctor("--json");
  expect(found.code).toBe(1);
  expect(stateOf(found)).toEqual({ ...well, "wake-ups": "wrong" });
  expect(found.stdout).toContain("queue lost of default has 4 ready jobs, 4 of them without a wake-up");
  const rebuilt = await doctor("--rebuild-wakeups", "--json");
  expect(rebuilt.code).toBe(0);
  expect(JSON.parse(rebuilt.stdout)).toMatchObject({ ok: true, rebuilt: { queues: 2, jobs: 5 } });
  // Again, with all of them there: none is there twice.
  await doctor("--rebuild-wakeups");
  const [first, second, third, fourth] = ids;
  expect((await signal.take([lost], 10)).ids).toEqual([second, first, third, fourth]);
  await doctor("--rebuild-wakeups");
});

test("disagreements are named: dead letters, counts, due jobs not promoted, groups not handed over", async () => {
  const { sql } = store.database;
  await signal.deadLetters.add(["00000000-0000-4000-8000-000000000000"]);
  await sql`INSERT INTO atlasqueue.queue_changes (tenant, queue, running) VALUES ('default', 'well', 1)`;
  const { id } = await queue.submit({ type: "a", queue: "well", delay_seconds: 3_600 });
  await sql`UPDATE atlasqueue.jobs SET due_at = now() - interval '2 hours' WHERE id = ${id}`;
  await sql`INSERT INTO atlasqueue.job_groups VALUES ('default', 'well', 'g', 1, 1, '{}', now())`;
  const { code, stdout } = await doctor();
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ sweep +jobs are due and not promoted for 2h 0m: is a worker or API process running\?$/m);
  expect(stdout).toMatch(/^✗ groups /m);
  expect(stdout).toMatch(/^✗ counts +1 don't match, such as: queue well of default has 0 running jobs, not 1$/m);
  expect(stdout).toMatch(/^✗ dead letters +0 jobs are dead, Redis lists 1/m);
  expect(stdout).toMatch(/^✓ schema/m);
});

test("a job that waits for one which has ended is found", async () => {
  const { sql } = store.database;
  const one = { type: "a", queue: "well", ref: "one" };
  const { jobs } = await queue.submitFlow({ jobs: [one, { type: "a", queue: "well", depends_on: ["one"] }] });
  const [first, second] = jobs;
  await sql`UPDATE atlasqueue.jobs SET status = 'cancelled', ready_at = NULL, finished_at = now() - interval '1 hour' WHERE id = ${first?.id ?? ""}`;
  const { code, stdout } = await doctor();
  expect(code).toBe(1);
  expect(stdout).toMatch(
    new RegExp(`^✗ flows +1 waits .* such as that of ${second?.id} for ${first?.id}: is a worker`, "m"),
  );
});

test("another database that had the same Redis first is named", async () => {
  const { sql } = store.database;
  onTestFinished(async () => void (await sql`DELETE FROM atlasqueue.redis_owner`));
  await sql`INSERT INTO atlasqueue.redis_owner (nonces, refused_until) VALUES ('{}', now() + interval '1 minute')`;
  expect((await doctor()).stdout).toMatch(/^✗ Redis owner +REDIS_URL: another database uses this Redis with the same/m);
});

test("jobs no worker takes are found, and live workers that take nothing", { tags: ["slow"] }, async () => {
  const { sql } = store.database;
  const waits = async (name: string) => {
    const { id } = await queue.submit({ type: "a", queue: name });
    await sql`UPDATE atlasqueue.jobs SET ready_at = now() - interval '2 hours' WHERE id = ${id}`;
  };
  const says = async () => {
    const { checks } = JSON.parse((await doctor("--json")).stdout) as { checks: Check[] };
    return Object.fromEntries(checks.map(({ name, state, detail }) => [name, `${state}: ${detail}`]));
  };
  // As workers do, or they would be forgotten within seconds.
  const living = new Map<string, WorkerPresence>();
  const beat = setInterval(() => living.forEach((one) => void signal.presence.announce(one)), 1_000);
  onTestFinished(() => clearInterval(beat));
  const worker = async (id: string, state: "running" | "stuck", active: number) => {
    living.set(id, { ...announced, id, active, state });
    await signal.presence.announce({ ...announced, id, active, state });
  };
  await waits("left");
  expect((await says())["waiting"]).toBe(
    "wrong: ready jobs wait in queue left of default for 2h 0m: no worker serves it",
  );
  await worker("full", "running", 2);
  expect((await says())["waiting"]).toBe("ok: 1 queues have a backlog, and busy workers");
  await worker("idle", "running", 0);
  await worker("wedged", "stuck", 0);
  expect(await says()).toMatchObject({
    waiting: expect.stringMatching(/^wrong: .*1 workers with free slots do not take them$/),
    workers: "wrong: wedged on h (pid 7) is alive but takes no jobs: restart it",
  });
  clearInterval(beat);
  for (const id of living.keys()) await signal.presence.withdraw({ tenant: "default", id });
  await sql`DELETE FROM atlasqueue.jobs WHERE queue = 'left'`;
  await sql`DELETE FROM atlasqueue.queue_counts WHERE queue = 'left'`;
  await sql`DELETE FROM atlasqueue.queue_changes WHERE queue = 'left'`;
});

test("workers are counted though there are no jobs", async () => {
  const empty = await testDatabase();
  onTestFinished(() => empty.drop());
  const early = { ...announced, id: "early" };
  const announce = () => signal.presence.announce({ ...early, active: 0, state: "running" });
  await announce();
  const beat = setInterval(() => void announce(), 1_000);
  onTestFinished(async () => {
    clearInterval(beat);
    await signal.presence.withdraw(early);
  });
  const { stdout } = await run(["doctor"], { DATABASE_URL: empty.url });
  expect(stdout).toMatch(/^✓ workers +1 announced, none of them stuck$/m);
});

test("a read-only database and a Redis that refuses writes are found although both answer", async () => {
  const readOnly = await testDatabase();
  await readOnly.database.sql.unsafe(`ALTER DATABASE "${readOnly.name}" SET default_transaction_read_only = on`);
  const full = await ownRedis();
  const ask = new Redis(full.url);
  await ask.config("SET", "maxmemory", "1");
  const { code, stdout } = await run(["doctor"], { DATABASE_URL: readOnly.url, REDIS_URL: full.url });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ Postgres +is read-only/m);
  expect(stdout).toMatch(/^✗ Redis +Redis refuses writes: OOM/m);
  const { host } = new URL(readOnly.url);
  const several = { DATABASE_URL: readOnly.url.replace(host, `${host},${host}`), API_PORT: "0", REDIS_URL: "" };
  const message = "none of the hosts in DATABASE_URL takes writes: standbys, old primaries, or a setting of theirs";
  expect((await run(["doctor"], several)).stdout.split("\n")[0]).toBe(`✗ Postgres      ${message}`);
  expect(await run(["api"], several)).toMatchObject({ code: 1, stderr: `${message}\n` });
  ask.disconnect();
  await Promise.all([full.stop(), readOnly.drop()]);
});

test("absent servers, invalid settings and a missing schema are reported", async () => {
  const nowhere = { DATABASE_URL: "postgres://127.0.0.1:1/x", REDIS_URL: "redis://127.0.0.1:1" };
  const away = await run(["doctor", "--json"], nowhere);
  expect(away.code).toBe(1);
  expect(stateOf(away)).toEqual({ Postgres: "wrong", Redis: "wrong" });
  const wrong = await run(["doctor"], { REDIS_URL: "http://x" });
  expect(wrong).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^REDIS_URL must be /) });
  const empty = await createDatabase(postgresUrl());
  const bare = await run(["doctor", "--json"], { DATABASE_URL: empty.url, REDIS_URL: "" });
  expect(stateOf(bare)).toEqual({ Postgres: "ok", Redis: "skipped", schema: "wrong" });
  expect(bare.stdout).toContain("atlasqueue migrate");
  await empty.drop();
});

test("a database that lacks a migration is reported with the one that is needed", async () => {
  const older = await testDatabase();
  await older.database.sql`
    UPDATE atlasqueue.migrations SET created_at = created_at - 1`;
  const { code, stdout } = await run(["doctor"], { DATABASE_URL: older.url, REDIS_URL: "" });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ schema +at migration \d{4}_\w+, this version needs \d{4}_\w+; run `atlasqueue migrate`$/m);
  await older.drop();
});
