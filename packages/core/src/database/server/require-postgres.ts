import { SettingError } from "../../program/settings.ts";
import type { Database } from "../connect.ts";
import { executeOn } from "../statement.ts";
import { isolation_level, isRefusedByPooler } from "./isolation.ts";
import { requireVersion } from "./version.ts";

/**
 * For a program's start, where a person reads what is wrong: throws `SettingError` when PostgreSQL is too old, or when
 * its transactions are not `read committed` unless they say so and we cannot choose.
 *
 * @example
 * await requirePostgres(database);
 */
export async function requirePostgres(database: Database): Promise<void> {
  await requireVersion(executeOn(database));
  if ((await isolationOf(database)).level === isolation_level) return;
  database.chooseReadCommitted();
  const chosen = await isolationOf(database).catch((error: unknown) => {
    if (isRefusedByPooler(error)) return undefined;
    throw error;
  });
  if (chosen?.level === isolation_level) return;
  throw new SettingError(
    `DATABASE_URL: AtlasQueue's statements must run as ${isolation_level}, here they do not by default, and the pooler lets no ` +
      `connection choose; tell the server: ALTER ROLE … SET default_transaction_isolation = '${isolation_level}'`,
  );
}

/** Of a statement that is sent alone, as most of ours are: in a transaction we say it ourselves. */
async function isolationOf(database: Database): Promise<{ level: string }> {
  const text = "SELECT current_setting('transaction_isolation') AS level";
  const [row] = await executeOn(database)<{ level: string }>({ text, params: [] });
  return row ?? { level: "" };
}
