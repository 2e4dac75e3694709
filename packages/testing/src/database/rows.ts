import type { Database } from "@atlasqueue/core";

type Sql = Pick<Database["sql"], "unsafe">;

/** A text that is another one as soon as any row of the tables is. */
export async function digestOf(sql: Sql, tables: readonly string[]): Promise<string> {
  const each = tables.map(
    (table) =>
      `(SELECT coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') FROM atlasqueue.${table} t)`,
  );
  const [row] = await sql.unsafe(`SELECT ${each.join(" || ")} AS digest`);
  return String(row?.["digest"]);
}

/** Whether a statement may change rows of the tables. */
export function changerOf(tables: readonly string[]): (statement: string) => boolean {
  const change = new RegExp(`\\b(INSERT INTO|UPDATE|DELETE FROM) atlasqueue\\.(${tables.join("|")})\\b`);
  return (statement) => change.test(statement);
}

/** So many dead jobs of a queue, faster than they die. */
export async function addDead(sql: Sql, queue: string, count: number): Promise<void> {
  await sql.unsafe(
    `INSERT INTO atlasqueue.jobs (id, type, queue, status, run_at, created_at, updated_at, finished_at, dead_at, payload)
     SELECT gen_random_uuid(), 'noop', $1, 'dead', now(), now(), now(), now(), now() - interval '1 s', '{}'
     FROM generate_series(1, $2::int)`,
    [queue, count],
  );
}
