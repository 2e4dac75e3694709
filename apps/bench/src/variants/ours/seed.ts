import { redisSignal } from "@atlasqueue/core";
import { defaultKeys, defaultTenant } from "@atlasqueue/core/internal";
import postgres, { type Sql } from "postgres";
import type { ServerUrls } from "../variant.ts";

const part_rows = 1_000_000;
const signals_part = 10_000;
const payload = JSON.stringify({ n: -1, text: "x".repeat(180) });

/** Version 7, made from a time and a number, as ids sort by when they were made. */
const idAt = (at: string, n: string) =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5((${n})::text), 1, 3) || '8' ||
    substr(md5((${n})::text), 4, 15))::uuid`;

export async function emptyTables(servers: ServerUrls): Promise<void> {
  await connected(
    servers,
    (sql) =>
      sql`TRUNCATE atlasqueue.jobs, atlasqueue.idempotency_keys, atlasqueue.job_attempts, atlasqueue.claims, atlasqueue.queue_counts, atlasqueue.queue_changes`,
  );
}

/** Jobs that succeeded over the course of yesterday, in the state our workers leave them. */
export function seedHistory(servers: ServerUrls, rows: number): Promise<void> {
  return seed(
    servers,
    rows,
    "succeeded",
    `INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, payload,
                       attempts, started_at, finished_at, lease_token, worker_id)
     SELECT ${idAt("at", "n")}, 'noop', 'succeeded', at, at, at, $4::text::json, 1, at, at, ${idAt("at", "n / 500")}, 'seed'
     FROM (SELECT n, now() - interval '2 days' + interval '1 day' * (n::float8 / $3::int) AS at
           FROM generate_series($1::int, $2::int) AS n) AS made`,
  );
}

/** Jobs of the last hour that still wait in the queue "default", with their signals. */
export async function seedBacklog(servers: ServerUrls, rows: number): Promise<void> {
  await seed(
    servers,
    rows,
    "queued",
    `INSERT INTO atlasqueue.jobs (id, type, status, run_at, ready_at, created_at, updated_at, payload)
     SELECT ${idAt("at", "n")}, 'noop', 'queued', at, at, at, at, $4::text::json
     FROM (SELECT n, now() - interval '2 hours' + interval '1 hour' * (n::float8 / $3::int) AS at
           FROM generate_series($1::int, $2::int) AS n) AS made`,
  );
  const signal = redisSignal({ url: servers.redis_memory, keys: defaultKeys });
  try {
    await connected(servers, async (sql) => {
      const ready = sql<{ id: string }[]>`
        SELECT id FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = ${defaultTenant} AND queue = 'default'
        ORDER BY priority DESC, ready_at, id`;
      for await (const part of ready.cursor(signals_part)) {
        const jobs = part.map(({ id }) => ({ id, tenant: defaultTenant, queue: "default", priority: 0 }));
        await signal.push(jobs);
      }
    });
  } finally {
    await signal.close();
  }
}

/** $1 … $2: the numbers of this part, $3: how many there are in total, $4: the payload. */
async function seed(servers: ServerUrls, rows: number, status: "succeeded" | "queued", text: string): Promise<void> {
  await connected(servers, async (sql) => {
    for (let from = 1; from <= rows; from += part_rows)
      await sql.unsafe(text, [from, Math.min(rows, from + part_rows - 1), rows, payload]);
    // As our statements that make such rows would have counted them.
    await sql`INSERT INTO atlasqueue.queue_changes ${sql({ tenant: defaultTenant, queue: "default", [status]: rows })}`;
    // The rows as in a database that accumulated them slowly: counted, vacuumed, on disk.
    await sql`VACUUM (ANALYZE) atlasqueue.jobs, atlasqueue.queue_changes`;
    await sql`CHECKPOINT`;
  });
}

async function connected<T>(servers: ServerUrls, use: (sql: Sql) => PromiseLike<T>): Promise<void> {
  const sql = postgres(servers.postgres, { max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await use(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
