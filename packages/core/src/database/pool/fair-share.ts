import type { Database, TenantContext } from "../connect.ts";

/**
 * What is sent through this view of a database is sent for a tenant. Tenants take turns for the pool's connections, and
 * none has more than its share of them, so that a thousand slow lists of one leave others a connection at once. What is
 * sent for nobody, such as batches of many tenants' jobs and the sweep, goes to the pool at once: it must bound itself.
 * Other than the turns nothing differs: deadlines, errors and the pool are those of the database.
 *
 * @example
 * const jobs = await listJobs({ ...deps, database: forTenant(deps.database, { tenant }) }, query);
 */
export function forTenant(database: Database, context: TenantContext): Database {
  return { ...database, context };
}

/**
 * The same database for operations on a lease, such as renewals and outcomes. They wait in a line of their own, and a
 * quarter of the connections takes no other statements.
 *
 * @example
 * await executeOn(withPriority(deps.database))(renewal);
 */
export function withPriority(database: Database): Database {
  return database.context ? forTenant(database, { ...database.context, line: "lease" }) : database;
}

/**
 * Send something when it is its tenant's turn. `began_at`, by `performance.now()`, is when it began to wait: it counts
 * against its deadline. Nothing sent inside of `work` may take a turn of its own, or all may wait for one another.
 */
export async function inTurn<T>(database: Database, work: (began_at: number) => Promise<T>): Promise<T> {
  if (database.atFirstUse) await database.atFirstUse();
  const began_at = performance.now();
  const { context, timeout_ms, pulse } = database;
  if (!context) return work(began_at);
  const { tenant, line = "rest", gone } = context;
  const turns = database.turns[line];
  if (!turns.enter(tenant)) await turns.wait(tenant, { began_at, timeout_ms, pulse, gone: gone?.() });
  try {
    return await work(began_at);
  } finally {
    turns.leave(tenant);
  }
}

/**
 * Do all of `work` in one turn: a move of several statements would otherwise wait for its tenant's turn before each, and
 * what the first has leased would wait with it. It is given a database without turns, to send one statement at a time.
 *
 * @example
 * const jobs = await inOneTurn(deps.database, (database) => claimJobs({ ...deps, database }, ids, claimer));
 */
export function inOneTurn<T>(database: Database, work: (database: Database) => Promise<T>): Promise<T> {
  const { context: _, ...plain } = database;
  return inTurn(database, () => work(plain));
}
