import { executeIn } from "../caller-transaction.ts";
import type postgres from "../driver.ts";
import { replicated } from "../replicated.ts";

type Query = postgres.PendingQuery<postgres.Row[]>;

/**
 * Waits until the synchronous standby has all that was committed before: if one is configured, and the commits of this role
 * in this database wait for it. It holds nothing meanwhile. `wait` is given the query that does, and what to say of it.
 */
export async function waitForStandby(
  sql: postgres.Sql,
  wait: (query: Query, line: string) => PromiseLike<unknown>,
): Promise<void> {
  const [set] = await executeIn(sql)<{ names: string }>({ text: ask, params: [] });
  if (!set?.names) return;
  const line = `all migrations are applied; waits until the synchronous standby has them (${set.names})`;
  await wait(sql.unsafe(`SELECT ${replicated}`), line);
}

const ask = "SELECT current_setting('synchronous_standby_names') AS names";
