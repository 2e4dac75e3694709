import { executeIn } from "./caller-transaction.ts";
import { codeOf } from "./errors.ts";
import { applyMissing, type MigrateOptions } from "./migrating/apply-missing.ts";
import { connectMigrator } from "./migrating/connect.ts";
import { shippedMigrations } from "./migrating/journal.ts";
import { grantStatements, grantSubmitStatements } from "./migrating/script.ts";
import { SettingError } from "../settings/setting-error.ts";
import { schemaNamed } from "./schema/name.ts";
import { requireVersion } from "./server/version.ts";

export type Grants = {
  grant?: string | undefined;
  grantSubmit?: { role: string; tenant: string } | undefined;
};

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
  const { sql, slowly, ignored } = connectMigrator(url);
  if (ignored.length > 0) tell?.(`ignored in the URL of the database: ${ignored.join(", ")}`);
  const work = async () => {
    await requireVersion(executeIn(sql));
    await applyMissing(sql, shippedMigrations(), { stop, tell, slowly, schema });
    if (grant !== undefined) await give(grant, grantStatements(grant, { schema: schema.name }));
    if (grantSubmit) {
      const { role, tenant } = grantSubmit;
      await give(role, grantSubmitStatements(role, { tenant, schema: schema.name }));
    }
  };
  const give = async (role: string, statements: readonly string[]) => {
    await sql.unsafe(statements.join(";")).catch((error: unknown) => {
      if (codeOf(error) === no_tenant) throw new SettingError((error as Error).message);
      if (codeOf(error) !== undefined_object) throw error;
      throw new SettingError(`there is no role ${JSON.stringify(role)} to grant rights to; create it first`);
    });
  };
  try {
    await unlessStopped(work(), stop);
  } finally {
    await sql.end({ timeout: stop?.aborted ? 1 : 5 });
  }
}

/** Rejects at the abort, even while the server does not answer. */
function unlessStopped(work: Promise<void>, stop: AbortSignal | undefined): Promise<void> {
  if (!stop) return work;
  return new Promise((resolve, reject) => {
    const end = () => reject(stop.reason);
    stop.addEventListener("abort", end, { once: true });
    void work.then(resolve, reject).finally(() => stop.removeEventListener("abort", end));
  });
}
