import { SettingError } from "../../settings/setting-error.ts";
import type { Database } from "../connect.ts";
import { certainlyNotApplied, codeOf } from "../errors.ts";
import { executeOn } from "../statement.ts";
import { requireVersion } from "./version.ts";

/**
 * The server's settings that our statements rely on: each sees what others committed while it waited for its locks,
 * NULL in an array is no text, and a time in milliseconds has all its digits. A pooler may refuse connections that ask
 * for them, so only those ask whose server has others by default.
 */
const relied = { default_transaction_isolation: "read committed", array_nulls: "on", extra_float_digits: "1" };
type Relied = keyof typeof relied;
/** Poolers refuse connections that ask for what they do not know, each in its own words. */
const protocol_violation = "08P01";

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
  database.chooseSettings(Object.fromEntries(others.map((name) => [name, relied[name]])));
  const [left] = await otherSettings(database).catch((error: unknown) => {
    if (codeOf(error) === protocol_violation) return others;
    throw error;
  });
  if (left === undefined) return;
  throw new SettingError(
    `DATABASE_URL: AtlasQueue's statements need ${left} = '${relied[left]}', here the default is another one, and the pooler ` +
      `lets no connection choose; tell the server: ALTER ROLE … SET ${left} = '${relied[left]}'`,
  );
}

/**
 * For users of the library, whose programs have no start of ours: the first statement waits for `requirePostgres`, and
 * each rejects with its `SettingError`. If the database is down, the next statement checks again.
 *
 * @example
 * const database = requiredAtFirstUse(connectDatabase({ url: databaseUrl, connectionsMax: 4, timeoutMs: 10_000 }));
 */
export function requiredAtFirstUse(database: Database): Database {
  let checked: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    try {
      await requirePostgres(database);
    } catch (error) {
      if (error instanceof SettingError) throw asOption(error);
      checked = undefined;
      throw certainlyNotApplied(error);
    }
  };
  return { ...database, atFirstUse: () => (checked ??= check()) };
}

/** Named as users of the library give it. */
export const asOption = ({ message }: SettingError) => new SettingError(message.replace("DATABASE_URL", "databaseUrl"));

const names = Object.keys(relied) as Relied[];

/** Seen by a statement that is sent alone, as most of ours are: in a transaction we choose the isolation ourselves. */
async function otherSettings(database: Database): Promise<Relied[]> {
  const text = `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(", ")}`;
  const [row] = await executeOn(database)<Record<Relied, string>>({ text, params: [] });
  const isGood = (name: Relied) =>
    name === "extra_float_digits" ? Number(row?.[name]) >= 1 : row?.[name] === relied[name];
  return names.filter((name) => !isGood(name));
}
