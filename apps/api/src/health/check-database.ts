import { SettingError, type Database } from "@atlasqueue/core";
import { defaultTenant, requirePostgres, requireSchema } from "@atlasqueue/core/internal";
import { findJob } from "@atlasqueue/core/internal/http";

const nobody = "00000000-0000-0000-0000-000000000000";
const undefined_table = "42P01";

/** At the start, where a person reads what is missing: asks for an impossible job, as an answer proves that our tables are there. */
export async function requireDatabase(database: Database): Promise<void> {
  await requirePostgres(database);
  // Before anything reads a column that is not there yet.
  await requireSchema(database);
  try {
    await findJob({ database }, defaultTenant, nobody);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined_table) throw error;
    throw new SettingError(
      `the schema ${database.schema.name} in DATABASE_URL has no AtlasQueue tables; run \`atlasqueue migrate\` first`,
    );
  }
}
