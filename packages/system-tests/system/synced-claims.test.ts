import { queueLimits } from "@atlasqueue/contract";
import { connectDatabase, migrateDatabase, memorySignal, type Database } from "@atlasqueue/core";
import { recoverExpired, setLimits } from "@atlasqueue/core/internal";
import { heartbeat } from "@atlasqueue/core/internal/http";
import { claim, extendLeases } from "@atlasqueue/core/internal/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { forFile, ownServers, submission, submit } from "@atlasqueue/harness";

// What a claim leaves unsynced waits for the WAL writer, which must not have a turn between claim and crash.
const walWriterRests = "ALTER SYSTEM SET wal_writer_delay = '10s'";

const servers = forFile(ownServers);
let database: Database;
const connect = () => connectDatabase({ url: servers.postgres.url, connectionsMax: 4, timeoutMs: 10_000 });
beforeAll(async () => {
  await migrateDatabase(servers.postgres.url);
  database = connect();
  await database.sql.unsafe(walWriterRests);
  await database.sql`SELECT pg_reload_conf()`;
});
afterAll(() => database.close());

const deps = () => ({ database, observe: () => {}, signal: memorySignal() });
const claimer = (queue: string) => ({ tenant: "default", queues: [queue], worker_id: "w", lease_seconds: 30 });
const add = async (queue: string, group?: string) => {
  const request = { queue, ...(group === undefined ? {} : { group }) };
  const outcomes = await submit(deps(), [submission(request), submission(request)], { idempotency_ttl_seconds: 60 });
  return outcomes.map((one) => ("job" in one ? one.job.id : ""));
};

test("a crash of PostgreSQL forgets no claim of a limited queue or a group: nothing starts beside them", async () => {
  await setLimits(deps(), { tenant: "default", queue: "limited" }, queueLimits.parse({ concurrency: 1 }));
  const [limited, grouped, free] = [await add("limited"), await add("grouped", "g"), await add("free")];
  expect(await claim(deps(), limited, claimer("limited"))).toHaveLength(1);
  await servers.postgres.kill("SIGKILL");
  await servers.postgres.restart();
  const status = async (ids: string[]) => {
    const rows = await database.sql<{ status: string }[]>`
      SELECT status FROM atlasqueue.jobs WHERE id = ANY(${`{${ids.join(",")}}`}::uuid[]) ORDER BY id`;
    return rows.map((row) => row.status);
  };
  await database.close();
  database = connect();
  expect(await status(limited)).toEqual(["running", "queued"]);
  expect(await claim(deps(), limited, claimer("limited"))).toEqual([]);

  expect(await claim(deps(), grouped, claimer("grouped"))).toHaveLength(1);
  await servers.postgres.kill("SIGKILL");
  await servers.postgres.restart();
  await database.close();
  database = connect();
  expect(await status(grouped)).toEqual(["running", "blocked"]);
  expect(await claim(deps(), grouped, claimer("grouped"))).toEqual([]);
  expect((await recoverExpired(deps(), 10)).requeued).toEqual([]);
  expect(await claim(deps(), free, claimer("free"))).toHaveLength(2);
});

test("a crash of PostgreSQL forgets no renewal that a lease hangs on: its holder was told how long it lasts", async () => {
  const short = { lease_seconds: 5 };
  const [remote, own] = [await add("remote"), await add("own")];
  const [held] = await claim(deps(), remote, { ...claimer("remote"), ...short });
  const leases = await claim(deps(), own, { ...claimer("own"), ...short });
  const { id = "", lease_token = "" } = held ?? {};
  // Each is the last that is written before the crash.
  const crashAfter = async (renewal: Promise<object>, of: string) => {
    const renewed = await renewal;
    await servers.postgres.kill("SIGKILL");
    await servers.postgres.restart();
    await database.close();
    database = connect();
    const [row] = await database.sql<
      { locked_until: Date }[]
    >`SELECT locked_until FROM atlasqueue.jobs WHERE id = ${of}`;
    expect(row?.locked_until).toBeInstanceOf(Date);
    expect(renewed).toMatchObject({ locked_until: row?.locked_until });
  };
  await crashAfter(heartbeat(deps(), "default", { id, lease_token, lease_seconds: 600 }), id);
  await crashAfter(extendLeases(deps(), leases, 600), own[0] ?? "");
});
