import type { Database, Sql } from "../../src/database/connect.ts";

/** Engines with a fault that the model must find: a text of their statements, and what stands there instead. */
export const mutants: Readonly<Record<string, readonly [string, string]>> = {
  "a settlement without the fence": ["THEN jobs.lease_token = ($3::uuid[])[1]", "THEN true"],
  "a lease given back costs an attempt": ["attempts = attempts - 1, lease_token = NULL", "lease_token = NULL"],
  "a lost lease costs none": [
    "last_error = $2, lease_token = NULL",
    "last_error = $2, attempts = attempts - 1, lease_token = NULL",
  ],
  "a job cancelled in its turn hands nothing over": [
    "IS NOT NULL AND status <> 'blocked' AND",
    "IS NULL AND false AND",
  ],
  "a child is released before its last parent ended": [
    "flow_edges WHERE flow_edges.child = child.id LIMIT 1) AS waits",
    "flow_edges WHERE flow_edges.child = child.id AND random() < 0.5 LIMIT 1) AS waits",
  ],
  "a job is removed that its key still names": ["AND (kept_until IS NULL OR kept_until <= now())", ""],
  "the dependants of a job do not wait for what it adds": [
    "FROM spawned, dependants",
    "FROM spawned, dependants WHERE false",
  ],
  "a unique key is free before its window is over": [
    "jobs.unique_until <= now(), jobs.version",
    "CASE WHEN jobs.unique_until IS NOT NULL THEN true END, jobs.version",
  ],
  "a rate counts one start of a claim": ["AS ends_at, count(*)::int AS count\n", "AS ends_at, 1 AS count\n"],
  "a rate of groups is that of the queue": ["AND leased.group_key IS NOT NULL", "AND leased.group_key IS NULL"],
  "leases of other workers end as well": ["claims WHERE worker_id = $1", "claims WHERE $1 <> ''"],
  "a group keeps its turn after it started": [
    "SET last_started_at = statement_timestamp()",
    "SET last_started_at = last_started_at",
  ],
  "an expired job starts": ["expires_at > statement_timestamp()", "true"],
  "by age alone": ["ORDER BY priority DESC, ready_at, id LIMIT $8", "ORDER BY ready_at, id LIMIT $8"],
};

/** The same database, to which statements go with the one text in place of the other, also in transactions. */
export function mutated(database: Database, [text, other]: readonly [string, string]): Database {
  type Sender = Pick<Sql, "unsafe">;
  type Begin = (...call: unknown[]) => Promise<unknown>;
  const sending = <S extends Sender>(sql: S): S => {
    const unsafe: Sql["unsafe"] = (statement, ...rest) => sql.unsafe(statement.replaceAll(text, other), ...rest);
    return new Proxy(sql, { get: (of, name) => (name === "unsafe" ? unsafe : Reflect.get(of, name)) as unknown });
  };
  // The work is what comes last, after options if there are any.
  const begin: Begin = (...call) => {
    const work = call.at(-1) as (tx: Sender) => unknown;
    return (database.sql.begin as unknown as Begin)(...call.slice(0, -1), (tx: Sender) => work(sending(tx)));
  };
  const sql = new Proxy(sending(database.sql), {
    get: (of, name) => (name === "begin" ? begin : Reflect.get(of, name)) as unknown,
  });
  return { ...database, sql };
}
