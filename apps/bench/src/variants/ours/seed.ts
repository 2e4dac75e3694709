import { redisSignal } from "@atlasqueue/core";
import { defaultKeys, defaultTenant } from "@atlasqueue/core/internal";
import postgres, { type Sql } from "postgres";
import type { ServerUrls } from "../variant.ts";

const insert_rows = 1_000_000;
const signals_part = 10_000;
/** Words, as the jobs that are submitted have. */
const text =
  "order invoice customer street Berlin total cents shipped 2026 mail Ada parcel weight status pending label tax city ";
const payload = JSON.stringify({ n: -1, text: text.repeat(2).slice(0, 180) });
const default_queues: readonly string[] = ["default"];

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
export function seedHistory(
  servers: ServerUrls,
  rows: number,
  part: readonly [number, number] = [0, rows],
): Promise<void> {
  const insert = `INSERT INTO atlasqueue.jobs (id, queue, type, status, run_at, created_at, updated_at, payload,
                       attempts, started_at, finished_at, lease_token, worker_id)
     SELECT ${idAt("at", "n")}, queue, 'noop', 'succeeded', at, at, at, $4::text::json, 1, at, at, ${idAt("at", "n / 500")}, 'seed'
     FROM (${numbered("2 days", "1 day")}) AS made`;
  return seed(servers, { rows, part, status: "succeeded", insert, queues: default_queues });
}

/** Jobs of the last hour that still wait, dealt out to the queues, with their signals. */
export async function seedBacklog(
  servers: ServerUrls,
  rows: number,
  queues: readonly string[] = default_queues,
): Promise<void> {
  const insert = `INSERT INTO atlasqueue.jobs (id, queue, type, status, run_at, ready_at, created_at, updated_at, payload)
     SELECT ${idAt("at", "n")}, queue, 'noop', 'queued', at, at, at, at, $4::text::json
     FROM (${numbered("2 hours", "1 hour")}) AS made`;
  await seed(servers, { rows, part: [0, rows], status: "queued", insert, queues });
  const signal = redisSignal({ url: servers.redis_memory, keys: defaultKeys });
  try {
    await connected(servers, async (sql) => {
      const ready = sql<{ id: string; queue: string }[]>`
        SELECT id, queue FROM atlasqueue.jobs
        WHERE ready_at IS NOT NULL AND tenant = ${defaultTenant} AND queue = ANY(${`{${queues.join(",")}}`}::text::text[])
        ORDER BY queue, priority DESC, ready_at, id`;
      for await (const part of ready.cursor(signals_part)) {
        const jobs = part.map(({ id, queue }) => ({ id, tenant: defaultTenant, queue, priority: 0 }));
        await signal.push(jobs);
      }
    });
  } finally {
    await signal.close();
  }
}

/** $1 … $2: the numbers of one INSERT, $3: how many rows there will be in total, $5: the queues. $4 is the payload. */
const numbered = (ago: string, spread: string) => `
  SELECT n, now() - interval '${ago}' + interval '${spread}' * (n::float8 / $3::int) AS at,
         ($5::text[])[1 + n % cardinality($5::text[])] AS queue
  FROM generate_series($1::int, $2::int) AS n`;

type Seed = {
  rows: number;
  /** After the first, up to the second. */
  part: readonly [number, number];
  status: "succeeded" | "queued";
  insert: string;
  queues: readonly string[];
};

async function seed(servers: ServerUrls, { rows, part, status, insert, queues }: Seed): Promise<void> {
  const [after, to] = part;
  await connected(servers, async (sql) => {
    for (let from = after + 1; from <= to; from += insert_rows)
      await sql.unsafe(insert, [from, Math.min(to, from + insert_rows - 1), rows, payload, `{${queues.join(",")}}`]);
    // As our statements that make such rows would have counted them.
    const each = Math.floor((to - after) / queues.length);
    const counts = queues.map((queue) => ({ tenant: defaultTenant, queue, [status]: each }));
    await sql`INSERT INTO atlasqueue.queue_changes ${sql(counts)}`;
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
