// @module-tag nightly
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { connectDatabase } from "@atlasqueue/core";
import { countDrift } from "@atlasqueue/core/internal/tools";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, forFile, type SpawnedProcess } from "@atlasqueue/harness";
import { between, chance, oneOf, shuffled } from "@atlasqueue/harness/servers";
import { freeze } from "./flows/noise.ts";
import { startSystem, type Api } from "./system.ts";

/** `PARKED_SEEDS=1,2,3` runs these. */
const seeds = (process.env["PARKED_SEEDS"] ?? "1").split(",").map(Number);
const jobs_count = 120;
const concurrency = 4;
const env = {
  WORKER_LEASE_SECONDS: "1",
  WORKER_HANDLERS: fileURLToPath(new URL("../test/parked-handlers.ts", import.meta.url)),
  WORKER_CONCURRENCY: "4",
  LOG_LEVEL: "WARNING",
};

const system = forFile(startSystem);
let sql: postgres.Sql;
beforeAll(async () => {
  sql = postgres(system.servers.postgres.url, { max: 2, fetch_types: false, onnotice: () => {}, backoff: () => 0.1 });
  await sql.unsafe(`
    CREATE TABLE step_runs (id bigserial PRIMARY KEY, job_id uuid, step text);
    CREATE TABLE at_once (queue text, running int);
    CREATE FUNCTION note_running() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO at_once SELECT NEW.queue, count(*) FROM atlasqueue.jobs WHERE queue = NEW.queue AND status = 'running';
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_running AFTER UPDATE OF status ON atlasqueue.jobs FOR EACH ROW
      WHEN (OLD.status <> 'running' AND NEW.status = 'running') EXECUTE FUNCTION note_running();`);
  // So that a crash forgets what was not synced: otherwise the WAL writer soon does that.
  await sql.unsafe("ALTER SYSTEM SET wal_writer_delay = '10s'");
  await sql`SELECT pg_reload_conf()`;
});
afterAll(() => sql.end({ timeout: 1 }));

type Told = { outcome: string; changed: number };
type World = { queue: string; apis: Api[]; workers: SpawnedProcess[]; ids: string[] };

/** What some API answers, asked until one does. */
async function ask({ apis }: World, method: "POST" | "PUT", path: string, body?: object) {
  let tries = 0;
  return eventually(async () => {
    const url = apis[tries++ % apis.length]?.url;
    const headers = {
      ...(body && { "content-type": "application/json" }),
      ...(method === "POST" && { "idempotency-key": randomUUID() }),
    };
    const sent = await fetch(`${url}${path}`, {
      method,
      headers,
      body: body ? JSON.stringify(body) : null,
      signal: AbortSignal.timeout(10_000),
    });
    const text = await sent.text();
    if (sent.status >= 500) throw new Error(`${sent.status} ${text}`);
    return { status: sent.status, body: (text ? JSON.parse(text) : {}) as Told, tries };
  });
}

const openJobs = async ({ queue }: World) =>
  Number(
    (
      await sql`
    SELECT count(*)::int AS n FROM atlasqueue.jobs
    WHERE queue = ${queue} AND (status NOT IN ('succeeded', 'cancelled', 'dead') OR id::text IN (SELECT key FROM atlasqueue.outbox WHERE kind = 'admit'))`
    )[0]?.["n"],
  );

test.each(seeds)(
  "parked jobs, bulk acts and pauses keep what was answered, whatever crashes or stands still meanwhile (seed %i)",
  async (seed) => {
    const random = chance(seed);
    const queue = `parked-${seed}`;
    const [apis, workers] = await Promise.all([
      Promise.all([0, 1].map(() => system.startApi({ LOG_LEVEL: "WARNING" }))),
      Promise.all([0, 1, 2].map(() => system.startWorker({ ...env, WORKER_QUEUES: queue }))),
    ]);
    const world: World = { queue, apis, workers, ids: [] };
    await ask(world, "PUT", `/v1/queues/${queue}/limits`, { concurrency });
    for (let at = 0; at < jobs_count; at += 1) {
      const group = at % 3 === 0 ? { group: `g${at % 9}` } : {};
      const made = await apis[at % 2]?.create({ type: "parked", queue, payload: {}, max_attempts: 20, ...group });
      world.ids.push(made ?? "");
    }

    /** The payload of the signal that was kept, of each job. */
    const sent = new Map<string, number>();
    const signalAll = async (ids: string[]) => {
      for (const [nth, id] of ids.entries()) {
        // When it was asked more than once, the first may have been kept.
        const { status, body, tries } = await ask(world, "POST", `/v1/jobs/${id}/signals/go`, { payload: nth });
        if (status < 300 && (body.outcome === "sent" || tries > 1)) sent.set(id, nth);
      }
    };
    const half = shuffled(random, world.ids).slice(0, 30);
    const bulk = (action: "cancel" | "retry", ids: string[]) => ask(world, "POST", "/v1/jobs/bulk", { action, ids });
    const bulkAll = async () => {
      for (let at = 0; at < 3; at += 1) {
        expect((await bulk("cancel", half)).status).toBe(200);
        await ask(world, "POST", `/v1/queues/${queue}/pause`);
        expect((await bulk("retry", half)).status).toBe(200);
        await ask(world, "POST", `/v1/queues/${queue}/resume`);
      }
    };
    const breaks = [
      ...[0, 1, 2].map(() => async () => {
        await system.servers.postgres.kill("SIGKILL");
        await system.servers.postgres.restart();
      }),
      ...[0, 1, 2].map(() => () => system.redis.flushall()),
      ...[0, 1].map(() => () => freeze(oneOf(random, workers))),
      () => freeze(oneOf(random, apis)?.process),
    ];
    const breakAll = async () => {
      for (const one of shuffled(random, breaks)) {
        const before = sent.size;
        const some = between(random, 3, 12);
        await eventually(() => sent.size >= Math.min(before + some, jobs_count / 2));
        await one();
      }
    };
    await Promise.all([signalAll(shuffled(random, world.ids)), bulkAll(), breakAll()]);
    // Those that were cancelled at the time took none.
    await signalAll(world.ids.filter((id) => !sent.has(id)));
    await eventually(async () => expect(await openJobs(world)).toBe(0));

    const rows = await sql<
      {
        id: string;
        status: string;
        result: { before: string; after: string; go: { payload: number; timed_out: boolean } } | null;
        steps: { [name: string]: string };
      }[]
    >`
      SELECT id, status, result, (SELECT json_object_agg(name, value) FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'step') AS steps
      FROM atlasqueue.jobs WHERE queue = ${queue}`;
    expect(rows).toHaveLength(jobs_count);
    for (const { id, status, result, steps } of rows) {
      const unsure = half.includes(id) && status === "cancelled";
      if (unsure) continue;
      expect({ id, status }).toEqual({ id, status: "succeeded" });
      expect(result).toEqual({
        before: steps["before"],
        after: steps["after"],
        go: { timed_out: false, payload: sent.get(id) },
      });
    }
    expect(
      Number((await sql`SELECT max(running) AS n FROM at_once WHERE queue = ${queue}`)[0]?.["n"]),
    ).toBeLessThanOrEqual(concurrency);
    const database = connectDatabase({ url: system.servers.postgres.url, connectionsMax: 1, timeoutMs: 10_000 });
    expect((await countDrift({ database }, 100_000)).drifted).toEqual([]);
    await database.close();
    for (const one of [...workers, ...apis.map((api) => api.process)]) {
      expect(one.kill("SIGCONT"), one.errorLines.join("\n")).toBe(true);
      await one.stop();
    }
  },
);
