import { SettingError } from "../../program/settings.ts";
import type { Database } from "../connect.ts";
import { executeOn } from "../statement.ts";
import { isRefusedByPooler, relied, type Relied } from "./relied-settings.ts";
import { requireVersion } from "./version.ts";

/**
 * For a program's start, where a person reads what is wrong: throws `SettingError` when PostgreSQL is too old, or when a
 * setting that our statements rely on is another by default and we cannot choose it.
 *
 * @example
 * await requirePostgres(database);
 */
export async function requirePostgres(database: Database): Promise<void> {
  await requireVersion(executeOn(database));
  const others = await otherSettings(database);
  if (others.length === 0) return;
  database.chooseSettings(others);
  const [left] = await otherSettings(database).catch((error: unknown) => {
    if (isRefusedByPooler(error)) return others;
    throw error;
  });
  if (left === undefined) return;
  throw new SettingError(
    `DATABASE_URL: AtlasQueue's statements need ${left} = '${relied[left]}', here the default is another one, and the pooler ` +
      `lets no connection choose; tell the server: ALTER ROLE … SET ${left} = '${relied[left]}'`,
  );
}

const names = Object.keys(relied) as Relied[];

/** Seen by a statement that is sent alone, as most of ours are: in a transaction we choose the isolation ourselves. */
async function otherSettings(database: Database): Promise<Relied[]> {
  const text = `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(", ")}`;
  const [row] = await executeOn(database)<Record<Relied, string>>({ text, params: [] });
  const isGood = (name: Relied) =>
    name === "extra_float_digits" ? Number(row?.[name]) >= 1 : row?.[name] === relied[name];
  return names.filter((name) => !isGood(name));
}
