import { eventually, forFile, ownServers, submission } from "@atlasqueue/harness";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { failureOf } from "../test/failure-of.ts";
import { openDatabase } from "../test/opened.ts";
import { bounded } from "./database/bounded.ts";
import { connectDatabase, type Database } from "./database/connect.ts";
import { isUnavailable, outcomeUnknown } from "./database/errors.ts";
import { migrateDatabase } from "./database/migrate.ts";
import type { Deps } from "./deps.ts";
import { claim } from "./lease/claim.ts";
import type { Lease } from "./lease/lease.ts";
import { createRecoveryGate } from "./maintenance/sweep/recovery-gate.ts";
import { createLogger } from "./observe/log.ts";
import { memorySignal } from "./signal/memory/signal.ts";
import { complete, fail } from "./settle/settle.ts";
import { enqueue } from "./submit/enqueue.ts";

// A PostgreSQL told to wait for a synchronous standby that does not exist. Our program runs as a role without any
// privilege.

const servers = forFile(ownServers);
let admin: Database;
let committer: Database;
let url: string;
let deps: Deps;
beforeAll(async () => {
  await migrateDatabase(servers.postgres.url);
  const direct = { url: servers.postgres.url, connectionsMax: 1, timeoutMs: 10_000 };
  admin = connectDatabase(direct);
  committer = connectDatabase(direct);
  await admin.sql.unsafe(`
    CREATE ROLE plain LOGIN PASSWORD 'plain';
    GRANT USAGE ON SCHEMA atlasqueue TO plain;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA atlasqueue TO plain;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA atlasqueue TO plain`);
  const own = new URL(servers.postgres.url);
  own.username = own.password = "plain";
  url = own.href;
});
beforeEach(() => {
  deps = { database: openDatabase({ url, connectionsMax: 10, timeoutMs: 400 }), observe: () => {} };
});
afterEach(() => standby(""));
afterAll(async () => {
  await committer.close();
  await admin.close();
});

/** From now on commits wait for it; none is "". */
async function standby(name: string): Promise<void> {
  await admin.sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await admin.sql`SELECT pg_reload_conf()`;
  // Each session reads it separately, between two statements; whether commits wait a process of the server's tells them.
  await eventually(async () => {
    const asked = await bounded(deps.database, deps.database.sql`SHOW synchronous_standby_names`);
    expect(asked).toEqual([{ synchronous_standby_names: name }]);
    expect(await waiting()).toBe(0);
    expect(await aCommitWaits()).toBe(name !== "");
  });
}

async function aCommitWaits(): Promise<boolean> {
  let waits: boolean | undefined;
  const probe = committer.sql`SELECT pg_logical_emit_message(true, 'probe', '')`.then(
    () => (waits ??= false),
    () => {},
  );
  await eventually(async () => {
    if ((await waiting()) > 0) waits ??= true;
    expect(waits).toBeDefined();
  });
  if (waits) await endWaits();
  await probe;
  return waits === true;
}

/** How many statements are waiting for the standby. */
async function waiting(): Promise<number> {
  const [row] = await admin.sql<{ waiting: number }[]>`
    SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  return row?.waiting ?? 0;
}

/** What an impatient operator or a shutdown does: what waited is then committed here, and nowhere else. */
async function endWaits(): Promise<void> {
  await admin.sql`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  await eventually(async () => expect(await waiting()).toBe(0));
}

async function expectUnknown(work: Promise<unknown>): Promise<unknown> {
  const error = await failureOf(work);
  expect(isUnavailable(error)).toBe(true);
  expect(outcomeUnknown(error)).toBe(true);
  return error;
}

const submit = (key?: string, unique?: string) =>
  enqueue(deps, [submission(unique ? { unique: { key: unique, scope: "active", on_conflict: "return" } } : {}, key)], {
    idempotency_ttl_seconds: 60,
  });
const kindOf = async (work: ReturnType<typeof submit>) => (await work)[0]?.kind;
const stored = async (): Promise<number> => (await admin.sql`SELECT FROM atlasqueue.jobs`).length;

test("a cancelled wait for the standby is an error that leaves the outcome unknown", async () => {
  await admin.sql`CREATE TABLE noted (at int); GRANT INSERT ON noted TO plain`.simple();
  const patient = openDatabase({ url, connectionsMax: 1, timeoutMs: 20_000 });
  await standby("nobody");
  const written = expectUnknown(bounded(patient, patient.sql`INSERT INTO noted VALUES (1)`));
  await eventually(async () => expect(await waiting()).toBe(1));
  await endWaits();
  expect(await written).toMatchObject({ code: "01000" });
  expect(await admin.sql`SELECT FROM noted`).toHaveLength(1);
});

test("a job waiting for the standby goes on waiting, and its key answers only when the standby has it", async () => {
  const before = await stored();
  await standby("nobody");
  await expectUnknown(submit("one"));
  // This one stored nothing: the first has the key, and its commit waits.
  expect(isUnavailable(await failureOf(submit("one")))).toBe(true);
  // If we cancelled it, everyone would see it, and it would be lost with this server.
  await eventually(async () => expect(await waiting()).toBe(1));
  expect(await stored()).toBe(before);

  await endWaits();
  expect(await stored()).toBe(before + 1);
  await expectUnknown(submit("one"));
  await eventually(async () => expect(await waiting()).toBeGreaterThan(0));

  await standby("");
  expect(await kindOf(submit("one"))).toBe("replayed");
  expect(await stored()).toBe(before + 1);
});

test("a wait for the standby is not cancelled when it is unknown what the statement waits for", async () => {
  const before = await stored();
  let looks = 0;
  const real = deps.database.control;
  const control = new Proxy(real, {
    get: (target, name) =>
      name === "unsafe"
        ? (...call: Parameters<typeof real.unsafe>) => {
            looks += 1;
            if (looks === 1) return Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
            return target.unsafe(...call);
          }
        : Reflect.get(target, name),
  });
  await standby("nobody");
  const database = { ...deps.database, control };
  await expectUnknown(enqueue({ ...deps, database }, [submission({})], { idempotency_ttl_seconds: 60 }));
  await eventually(() => expect(looks).toBeGreaterThan(1));
  expect(await waiting()).toBe(1);
  expect(await stored()).toBe(before);
});

test("a unique job answers for another only when the standby has it", async () => {
  await standby("nobody");
  await expectUnknown(submit(undefined, "report"));
  await eventually(async () => expect(await waiting()).toBe(1));
  await endWaits();
  await expectUnknown(submit(undefined, "report"));
  await standby("");
  expect(await kindOf(submit(undefined, "report"))).toBe("existing");
});

const verdict = { kind: "dead", reason: "attempts_exhausted" } as const;
test.each([
  ["success", (lease: Lease) => complete(deps, [{ lease, result: 1 }]), "applied"],
  ["failure", (lease: Lease) => fail(deps, [{ lease, error: "no", verdict }]), "dead"],
])("a repeated %s is only settled when the standby has it", async (_, settle, kind) => {
  const [outcome] = await submit();
  const id = outcome && "job" in outcome ? outcome.job.id : "";
  const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };
  const [lease] = await claim(deps, [id], claimer);
  await standby("nobody");
  await expectUnknown(settle(lease as Lease));
  await eventually(async () => expect(await waiting()).toBe(1));
  await endWaits();
  await expectUnknown(settle(lease as Lease));
  await standby("");
  expect(await settle(lease as Lease)).toMatchObject([{ kind }]);
});

test("without a standby configured a look writes nothing", async () => {
  await submit("quiet");
  const written = async () => (await admin.sql`SELECT pg_current_wal_insert_lsn()::text AS at`)[0]?.["at"];
  await eventually(async () => {
    const before = await written();
    expect(await kindOf(submit("quiet", undefined))).toBe("replayed");
    expect(await written()).toBe(before);
  });
});

test("no lease is ended while commits wait for the standby", async () => {
  const queued = (await submit()).flatMap((outcome) => ("job" in outcome ? outcome.job.id : []));
  await claim(deps, queued, { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 });
  let failed = 0;
  const observe = () => void (failed += 1);
  const logger = createLogger("silent", "test");
  const gate = createRecoveryGate({ ...deps, observe, signal: memorySignal(), logger, recovery_gate_ms: 0 });
  const stop = new AbortController();
  const running = gate.run(stop.signal);
  gate.start();
  await eventually(() => expect(gate.isOpen()).toBe(true));
  await standby("nobody");
  await eventually(() => expect(gate.isOpen()).toBe(false));
  expect(failed).toBeGreaterThan(0);
  await standby("");
  await eventually(() => expect(gate.isOpen()).toBe(true));
  stop.abort();
  await running;
});
