import type { Sql } from "../src/database/connect.ts";

/** What moves of jobs read and write. */
export const keptTables = [
  "jobs",
  "claims",
  "job_attempts",
  "idempotency_keys",
  "flow_jobs",
  "flow_edges",
  "outbox",
  "job_groups",
  "queues",
  "queue_starts",
  "queue_counts",
  "queue_changes",
  "schedules",
  "operations",
  "job_state",
];
/** Deleting is cheaper than TRUNCATE, but leaves the old rows on disk. */
const deletes_max = 40;

/**
 * Keep what is in the tables now. The function returned puts it back as often as it is called, as if it were made just
 * then (every time keeps its distance from now), and removes all else: a tenth of what making it again costs.
 *
 * @example
 * const putBack = await keepTables(database.sql);
 */
export async function keepTables(sql: Sql): Promise<() => Promise<void>> {
  await sql`CREATE SCHEMA kept`;
  await sql`CREATE TABLE kept.since AS SELECT now() AS kept_at`;
  for (const table of keptTables) await sql`CREATE TABLE kept.${sql(table)} AS TABLE ${sql(`atlasqueue.${table}`)}`;
  const columns = await sql<{ table_name: string; column_name: string; data_type: string }[]>`
    SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'kept'`;
  const insert = keptTables.map((table) => {
    const own = columns.filter(({ table_name }) => table_name === table);
    const values = own.map(({ column_name, data_type }) =>
      data_type === "timestamp with time zone" ? `${column_name} + (now() - since.kept_at)` : column_name,
    );
    const names = own.map(({ column_name }) => column_name);
    return `INSERT INTO atlasqueue.${table} (${names.join(", ")}) SELECT ${values.join(", ")} FROM kept.${table}, kept.since`;
  });
  let times = 0;
  return async () => {
    times += 1;
    const empty =
      times % deletes_max === 0
        ? [`TRUNCATE ${keptTables.map((table) => `atlasqueue.${table}`).join(", ")}`]
        : keptTables.map((table) => `DELETE FROM atlasqueue.${table}`);
    await sql.unsafe([...empty, ...insert].join(";\n"));
  };
}
