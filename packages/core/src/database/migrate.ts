import { executeIn } from "./caller-transaction.ts";
import postgres from "./driver.ts";
import { codeOf } from "./errors.ts";
import { applyMissing, type MigrateOptions } from "./migrating/apply-missing.ts";
import { shippedMigrations } from "./migrating/journal.ts";
import { grantStatements, grantSubmitStatements } from "./migrating/script.ts";
import { SettingError } from "../settings/setting-error.ts";
import { schemaNamed } from "./schema/name.ts";
import { parseDatabaseUrl } from "./server/connection-string.ts";
import { requireVersion } from "./server/version.ts";

export type Grants = {
  grant?: string | undefined;
  grantSubmit?: { role: string; tenant: string } | undefined;
};

const silence_seconds_max = 10;
const undefined_object = "42704";
/** Of the function `grant_submit`. */
const no_tenant = "22023";

/**
 * Bring a database to the newest schema. Safe to run from several processes at once: they take turns, and those with
 * nothing to do return at once. It waits for tables that others use, about a second at a time, for as long as it takes. A lost
 * connection rejects, and the next call goes on from there. Its tables and its journal are in the schema `atlasqueue`,
 * unless `schema` names another. Throws `SettingError` when the server is too old, or the schema has tables of these names
 * that AtlasQueue did not make, and a TypeError for a schema's name that is not accepted.
 * The role `grant`, if given, then has what the API and the workers need, and `grantSubmit.role` may submit jobs for
 * `grantSubmit.tenant`; `SettingError` when there is no such role or tenant.
 *
 * @example
 * await migrateDatabase("postgres://localhost/atlasqueue", { tell: console.error });
 */
export async function migrateDatabase(
  url: string,
  { stop, tell, schema: name, grant, grantSubmit }: MigrateOptions & Grants & { schema?: string | undefined } = {},
): Promise<void> {
  stop?.throwIfAborted();
  const schema = schemaNamed(name);
  const { driver, connect_timeout_seconds, startup, ignored } = parseDatabaseUrl(url, "atlasqueue-migrate");
  if (ignored.length > 0) tell?.(`ignored in the URL of the database: ${ignored.join(", ")}`);
  const sql = postgres({
    ...driver,
    connection: startup,
    max: 1,
    // A pooler may have each try on another connection.
    prepare: false,
    onnotice: () => {},
    fetch_types: false,
    connect_timeout: connect_timeout_seconds ?? silence_seconds_max,
    // A statement may take as long as it takes. After this long without an answer the system asks whether the server is
    // there, which takes ten seconds more.
    keep_alive: silence_seconds_max,
  } as unknown as postgres.Options<Record<string, never>>);
  const give = async (role: string, statements: readonly string[]) => {
    await sql.unsafe(statements.join(";")).catch((error: unknown) => {
      if (codeOf(error) === no_tenant) throw new SettingError((error as Error).message);
      if (codeOf(error) !== undefined_object) throw error;
      throw new SettingError(`there is no role ${JSON.stringify(role)} to grant rights to; create it first`);
    });
  };
  // The server ends by itself what it does then: it waits for no lock for longer.
  const end = () => void sql.end({ timeout: 0 });
  stop?.addEventListener("abort", end, { once: true });
  try {
    await requireVersion(executeIn(sql));
    await applyMissing(sql, shippedMigrations(), { stop, tell, schema });
    if (grant !== undefined) await give(grant, grantStatements(grant, { schema: schema.name }));
    if (grantSubmit) {
      const { role, tenant } = grantSubmit;
      await give(role, grantSubmitStatements(role, { tenant, schema: schema.name }));
    }
  } catch (error) {
    stop?.throwIfAborted();
    throw error;
  } finally {
    stop?.removeEventListener("abort", end);
    await sql.end({ timeout: 5 });
  }
}
