import type postgres from "../driver.ts";

/**
 * A process whose transaction has a lock another one waits for, or waits for it in front of that. When a transaction began
 * is shown only to those of the same role, its number to everybody.
 */
export type InTheWay = {
  pid: number;
  name: string;
  state: string | null;
  transaction: string | null;
  servers_own: boolean;
};

const named_max = 5;
const statement_chars_max = 120;

/** Who a server process waits for now; nobody when it works. Autovacuum is the server's own and has no user. */
export async function inTheWay(sql: postgres.Sql, pid: number): Promise<readonly InTheWay[]> {
  return sql<InTheWay[]>`
    SELECT DISTINCT blocker.pid, state, usesysid IS NULL AND blocker.pid <> 0 AS servers_own,
      (SELECT min(virtualtransaction) FROM pg_locks WHERE pg_locks.pid = blocker.pid) AS transaction,
      coalesce(nullif(application_name, ''), usename, 'unnamed') AS name
    FROM unnest(pg_blocking_pids(${pid})) AS blocker (pid) LEFT JOIN pg_stat_activity USING (pid)
    ORDER BY blocker.pid`;
}

/** Whether nobody else is in the way, as far as could be seen. */
export const onlyVacuum = (found: readonly InTheWay[]) => found.every(({ servers_own }) => servers_own);

/**
 * Whether none of those in the way has been there before: they come and go. Of whom nobody saw neither is known; as behind
 * a pooler, where those who wait for our lock have all connections. Then they may well do.
 */
export const allNew = (found: readonly InTheWay[], before: readonly InTheWay[]) =>
  !found.some(({ pid, transaction }) => before.some((one) => one.pid === pid && one.transaction === transaction));

/** What a person who runs the migration needs to see what holds it up. */
export function waitingLine(statement: string, found: readonly InTheWay[]): string {
  const named = found.slice(0, named_max).map(nameOf);
  const more = found.length > named_max ? [`${found.length - named_max} more`] : [];
  const by = found.length === 0 ? "others (it could not see whom)" : [...named, ...more].join(", ");
  return `a migration waits for ${by}, and tries again until it gets through: ${shortened(statement)}`;
}

function nameOf({ pid, name, state, servers_own }: InTheWay): string {
  // As `pg_blocking_pids` has it.
  if (pid === 0) return "a prepared transaction (see pg_prepared_xacts)";
  if (servers_own) return `process ${pid} (autovacuum)`;
  return `process ${pid} (${name}${state === null ? "" : `, ${state}`})`;
}

function shortened(statement: string): string {
  const line = statement
    .replaceAll(/^\s*--.*$/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > statement_chars_max ? `${line.slice(0, statement_chars_max)}…` : line;
}
