import { brokenConnection, eventually, steppingDatabase } from "@atlasqueue/harness";
import { expect, test, vi } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { createLogger } from "../observe/log.ts";
import { clearAway } from "./cleaner.ts";
import { defaultRetention } from "./retention.ts";

const { deps, recorded } = engineHarness();
const clear = ({ signal: stop }: AbortController, database = deps.database) =>
  clearAway({ ...deps, database, logger: createLogger("silent", "test") }, defaultRetention, undefined, stop);

/** As left by a tenant that made and removed things all day; more than one step takes. */
const many = 1_100;

test("a pass takes all there is of each kind, and passes over what somebody keeps locked", async () => {
  const { sql } = deps.database;
  await sql`INSERT INTO atlasqueue.queue_counts (tenant, queue) SELECT 'default', 'gone-' || n FROM generate_series(1, ${many}::int) AS n`;
  await sql`INSERT INTO atlasqueue.queues (tenant, queue) SELECT 'default', 'resumed-' || n FROM generate_series(1, ${many}::int) AS n`;
  await sql`
    INSERT INTO atlasqueue.operations (id, tenant, kind, status, filter, total, total_complete, until_us, cursor, next_at,
                                     made_by, payload_bytes_max, created_at, updated_at, finished_at)
    SELECT gen_random_uuid(), 'default', 'replay', 'done', '{}', 0, true, 0, '{}', now(), '{}', 1, now(), now(),
           now() - interval '31 days' FROM generate_series(1, ${many}::int)`;
  const stop = new AbortController();
  await sql.begin(async (stranger) => {
    const locked = await stranger`SELECT FROM atlasqueue.queues LIMIT 600 FOR UPDATE`;
    const cleaning = clear(stop);
    const left = async () => ({
      totals: (await sql`SELECT FROM atlasqueue.queue_counts`).length,
      queues: (await sql`SELECT FROM atlasqueue.queues`).length,
      replays: (await sql`SELECT FROM atlasqueue.operations`).length,
    });
    await eventually(async () => expect(await left()).toEqual({ totals: 0, queues: locked.length, replays: 0 }));
    stop.abort();
    await cleaning;
  });
});

test("a stop ends both passes after the part that is under way", async () => {
  const stop = new AbortController();
  const after = vi.fn();
  const database = steppingDatabase(deps.database, (kind) => {
    if (kind !== "statement") return;
    if (stop.signal.aborted) after();
    stop.abort();
    throw brokenConnection();
  });
  await clear(stop, database);
  expect(stop.signal.aborted).toBe(true);
  // The other pass's first.
  expect(after.mock.calls.length).toBeLessThanOrEqual(1);
});

test("a part of the cleaner that fails keeps no other from its rows", async () => {
  const { sql } = deps.database;
  await sql`
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at)
    VALUES ('default', 'old', '', gen_random_uuid(), now() - interval '1 hour')`;
  await sql`
    INSERT INTO atlasqueue.operations (id, tenant, kind, status, filter, total, total_complete, until_us, cursor, next_at,
                                     made_by, payload_bytes_max, created_at, updated_at, finished_at)
    VALUES (gen_random_uuid(), 'default', 'replay', 'done', '{}', 0, true, 0, '{}', now(), '{}', 1, now(), now(),
            now() - interval '31 days')`;
  const failing = ["job_attempts", "audit_log", "date_trunc('hour'"];
  const database = steppingDatabase(deps.database, (kind, _number, text) => {
    if (kind === "statement" && failing.some((part) => text.includes(part))) throw brokenConnection();
  });
  const stop = new AbortController();
  const cleaning = clear(stop, database);
  const left = async () => ({
    keys: (await sql`SELECT FROM atlasqueue.idempotency_keys`).length,
    replays: (await sql`SELECT FROM atlasqueue.operations`).length,
  });
  await eventually(async () => expect(await left()).toEqual({ keys: 0, replays: 0 }));
  stop.abort();
  await cleaning;
  const told = recorded.named("database_unavailable").map((event) => "during" in event && event.during);
  expect(told.toSorted()).toEqual(["acts", "jobs", "minutes", "own_jobs"].map((part) => `retention: ${part}`));
});
