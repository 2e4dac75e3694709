import type { Database, Sql } from "../../src/database/connect.ts";

/** Engines with a fault that the model must find: a text of their statements, and what stands there instead. */
export const mutants: Readonly<Record<string, readonly [string, string]>> = {
  "a settlement without the fence": ["THEN jobs.lease_token = ($3::uuid[])[1]", "THEN true"],
  "a lease given back costs an attempt": ["attempts = attempts - 1, lease_token = NULL", "lease_token = NULL"],
  "a lost lease costs none": [
    "last_error = $2, lease_token = NULL",
    "last_error = $2, attempts = attempts - 1, lease_token = NULL",
  ],
  "a job cancelled in its turn hands nothing over": ["FROM open WHERE status <> 'blocked'", "FROM open WHERE false"],
  "a child is released before its last parent ended": [
    "flow_edges WHERE flow_edges.child = child.id) AS waits",
    "flow_edges WHERE flow_edges.child = child.id) AND random() < 0.5 AS waits",
  ],
  "a job is removed that its key still names": ["AND (kept_until IS NULL OR kept_until <= now())", ""],
  "by age alone": ["ORDER BY priority DESC, ready_at, id LIMIT $6", "ORDER BY ready_at, id LIMIT $6"],
};

/** The same database, to which statements go with the one text in place of the other. */
export function mutated(database: Database, [text, other]: readonly [string, string]): Database {
  const unsafe: Sql["unsafe"] = (statement, ...rest) => database.sql.unsafe(statement.replaceAll(text, other), ...rest);
  return {
    ...database,
    sql: new Proxy(database.sql, { get: (sql, name) => (name === "unsafe" ? unsafe : Reflect.get(sql, name)) }),
  };
}
