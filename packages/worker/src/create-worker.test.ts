import { fileURLToPath } from "node:url";
import { createLogger, createQueue, type AtlasEvent } from "@atlasqueue/core";
import { eventually, forFile, redisUrl, spawnProcess, testDatabase, uniqueKeys } from "@atlasqueue/harness";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createWorker, type WorkerOptions } from "./create-worker.ts";
import { defineHandler } from "./handler.ts";

const own = forFile(testDatabase);
let keys: { jobs: string; deadLetters: string };
beforeEach(async () => {
  const { jobsKey, dlqKey } = uniqueKeys();
  keys = { jobs: jobsKey, deadLetters: dlqKey };
  await own.database.sql`TRUNCATE atlasqueue.jobs`;
});

const any = z.looseObject({});
const silent = createLogger("silent", "test");
const statuses = async () =>
  (await own.database.sql`SELECT status FROM atlasqueue.jobs`).map(({ status }) => status as string);
/** Of our worker to our database. */
const connections = async () => {
  const [row] = await own.database.sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE application_name = 'atlasqueue-worker' AND datname = current_database()`;
  return row?.count;
};

function open(options: Partial<WorkerOptions> = {}) {
  const worker = createWorker({ databaseUrl: own.url, keys, logger: silent, handlers: [], ...options });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  return worker;
}

async function submit(redis: string | undefined, ...types: string[]): Promise<void> {
  const queue = createQueue({ databaseUrl: own.url, redisUrl: redis, keys });
  await queue.submitMany(types.map((type) => ({ type })));
  await queue.close();
}

describe.each([
  ["with Redis", redisUrl],
  ["with an empty redisUrl", () => ""],
])("a worker %s", (_name, url) => {
  test("runs the jobs of all its handlers, and stops with nothing left open", async () => {
    const ran: string[] = [];
    const events: AtlasEvent[] = [];
    const handlers = ["a", "b"].map((type) => defineHandler(type, any, () => void ran.push(type)));
    const worker = open({ redisUrl: url(), handlers, observe: (event) => void events.push(event) });
    await submit(url(), "a", "b");
    await eventually(async () => expect(await statuses()).toEqual(["succeeded", "succeeded"]));
    expect(ran.toSorted()).toEqual(["a", "b"]);
    expect(await connections()).toBeGreaterThan(0);
    expect(events.filter(({ event }) => event === "signal_failed")).toEqual([]);
    await worker.stop();
    expect(events.at(-1)).toMatchObject({ event: "worker_stopped", worker_id: worker.id });
    await eventually(async () => expect(await connections()).toBe(0));
  });

  test("lets its process end once it has stopped", async () => {
    await submit(url(), "last");
    const program = fileURLToPath(new URL("../test/own-worker.ts", import.meta.url));
    const args = [own.url, url() ?? "", keys.jobs, keys.deadLetters];
    const { waitForExit, lines, errorLines } = await spawnProcess(program, { args });
    expect(await waitForExit()).toEqual({ code: 0, signal: null });
    expect(await statuses()).toEqual(["succeeded"]);
    // By default only trouble is logged.
    expect([...lines, ...errorLines]).toEqual([]);
  });
});

test("a stop waits for the running handlers, and a second one for the first", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const worker = open({ handlers: [defineHandler("slow", any, () => promise)] });
  await submit(undefined, "slow");
  await eventually(async () => expect(await statuses()).toEqual(["running"]));
  const stopping = worker.stop();
  expect(worker.stop({ deadlineMs: 0 })).toBe(stopping);
  resolve();
  await stopping;
  expect(await statuses()).toEqual(["succeeded"]);
});

test("without a database it goes on, and says so in its log", async () => {
  const lines: string[] = [];
  const logger = createLogger("warn", "mailer", { write: (line: string) => void lines.push(line) });
  open({ logger, databaseUrl: "postgres://nobody@127.0.0.1:1/nowhere", timeoutMs: 500 });
  const told = { level: "error", service: "mailer", event: "database_unavailable" };
  await eventually(() =>
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(expect.objectContaining(told)),
  );
});

test.each([undefined, "", " "])("a databaseUrl of %j is refused by name", (databaseUrl) => {
  const options = { databaseUrl: databaseUrl as string, handlers: [] };
  expect(() => createWorker(options)).toThrow(
    "databaseUrl must be a URL such as postgres://user:password@host:5432/database; got",
  );
  expect(() => createQueue(options)).toThrow(TypeError);
});

test("handlers that cannot be are refused, and leave nothing open", async () => {
  const one = defineHandler("a", any, () => {});
  expect(() => open({ redisUrl: redisUrl(), handlers: [one, one] })).toThrow('two handlers for the type "a"');
  expect(() => open({ handlers: [one], queues: { mail: 0 } })).toThrow("the slots of mail must be an integer");
  expect(await connections()).toBe(0);
});

test("a database that cannot be used is reported in one line, and the worker stops", async () => {
  const name = `worker_latin_${process.pid}`;
  await own.database.sql.unsafe(
    `CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C'`,
  );
  onTestFinished(async () => void (await own.database.sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)));
  const lines: string[] = [];
  const logger = createLogger("warn", "mailer", { write: (line: string) => void lines.push(line) });
  const url = Object.assign(new URL(own.url), { pathname: `/${name}` });
  const worker = open({ logger, databaseUrl: url.href });
  const reason =
    "databaseUrl: AtlasQueue needs a database with the encoding UTF8; this database has LATIN1. Create another";
  expect(await worker.refused).toBe(reason);
  await expect(worker.empty()).rejects.toThrow(reason);
  await worker.stop();
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ event: "worker_refused", reason }]);
});
