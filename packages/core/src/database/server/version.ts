import { SettingError } from "../../settings/setting-error.ts";
import type { Execute } from "../statement.ts";

/** Older ones were never tried, and what they lack would only fail when it is needed. */
const oldest_major = 16;

/** Throws `SettingError` when PostgreSQL is too old, or the database cannot hold every character of JSON. */
export async function requireVersion(execute: Execute): Promise<void> {
  const [row] = await execute<{ number: number; encoding: string }>({ text: ask, params: [] });
  const trouble = troubleOfVersion(row?.number ?? 0) ?? troubleOfEncoding(row?.encoding ?? "");
  if (trouble !== undefined) throw new SettingError(trouble);
}

const ask =
  "SELECT current_setting('server_version_num')::int AS number, current_setting('server_encoding') AS encoding";

const troubleOfEncoding = (encoding: string) =>
  encoding === "UTF8"
    ? undefined
    : `DATABASE_URL: AtlasQueue needs a database with the encoding UTF8; this database has ${encoding}. Create another`;

/** Why a server of this `server_version_num` cannot be used; undefined when it can. */
export function troubleOfVersion(number: number): string | undefined {
  if (number >= oldest_major * 10_000) return undefined;
  return `DATABASE_URL: AtlasQueue needs PostgreSQL ${oldest_major} or newer; the server is ${versionOf(number)}`;
}

/** Two numbers since 10, three before: 150004 is 15.4, and 90624 is 9.6.24. */
function versionOf(number: number): string {
  const [major, middle, last] = [Math.floor(number / 10_000), Math.floor(number / 100) % 100, number % 100];
  return major >= 10 ? `${major}.${number % 10_000}` : `${major}.${middle}.${last}`;
}
