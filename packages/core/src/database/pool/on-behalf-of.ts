import type { Database } from "../connect.ts";
import type { Sender } from "./pool-turns.ts";

/**
 * What is sent through this view of a database is sent for a tenant. Tenants take turns for the pool's connections, and
 * none has more than its share of them, so that a thousand slow lists of one leave others a connection at once. What is
 * sent for nobody, such as batches of many tenants' jobs and the sweep, goes to the pool at once, and of eight
 * connections has one to itself: it must bound itself. Other than the turns nothing differs: deadlines, errors and the
 * pool are those of the database.
 *
 * @example
 * const jobs = await listJobs({ ...deps, database: onBehalfOf(deps.database, { tenant }) }, query);
 */
export function onBehalfOf(database: Database, sender: Sender): Database {
  return { ...database, sender };
}

/**
 * The same database, and `sentAt`: when, by `performance.now()`, something was first sent through it. That is after it
 * waited for its tenant's turn; without a tenant, or before anything was sent, it is when this was called.
 *
 * @example
 * const { database, sentAt } = timed(deps.database);
 * const jobs = await claimJobs({ ...deps, database }, ids, claimer);
 * if (isLate(sentAt(), 30)) await renewLate(deps, jobs, 30);
 */
export function timed(database: Database): { database: Database; sentAt: () => number } {
  const asked_at = performance.now();
  let sent_at: number | undefined;
  if (!database.sender) return { database, sentAt: () => asked_at };
  const sending = () => void (sent_at ??= performance.now());
  return { database: onBehalfOf(database, { ...database.sender, sending }), sentAt: () => sent_at ?? asked_at };
}

/**
 * The same database, where what waits goes ahead of whatever else waits for its tenant, other tenants' turns left as they
 * are: for what a lease hangs on.
 *
 * @example
 * await executeOn(ahead(deps.database))(renewal);
 */
export function ahead(database: Database): Database {
  return database.sender ? onBehalfOf(database, { ...database.sender, ahead: true }) : database;
}

/**
 * Send something when it is its tenant's turn. `began_at`, by `performance.now()`, is when it began to wait: it counts
 * against its deadline. Nothing sent inside of `work` may take a turn of its own, or all may wait for one another.
 */
export async function inTurn<T>(database: Database, work: (began_at: number) => Promise<T>): Promise<T> {
  const began_at = performance.now();
  const { sender, turns, timeout_ms, pulse } = database;
  if (!sender) return work(began_at);
  if (!turns.enter(sender.tenant)) await turns.wait(sender, { began_at, timeout_ms, pulse });
  try {
    sender.sending?.();
    return await work(began_at);
  } finally {
    turns.leave(sender.tenant);
  }
}
