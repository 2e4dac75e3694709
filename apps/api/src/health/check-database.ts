import { SettingError, type Database } from "@atlasqueue/core";
import { defaultTenant, requirePostgres, requireSchema } from "@atlasqueue/core/internal";
import { findJob } from "@atlasqueue/core/internal/http";

const nobody = "00000000-0000-0000-0000-000000000000";
const undefined_table = "42P01";

/** Ask the database for an impossible job: an answer proves that it is there and has our tables. */
async function askDatabase(database: Database): Promise<void> {
  await findJob({ database }, defaultTenant, nobody);
}

/** The same at the start, where a person reads what is missing. */
export async function requireDatabase(database: Database): Promise<void> {
  await requirePostgres(database);
  // Before anything reads a column that is not there yet.
  await requireSchema(database);
  try {
    await askDatabase(database);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined_table) throw error;
    throw new SettingError(
      `the schema ${database.schema.name} in DATABASE_URL has no AtlasQueue tables; run \`atlasqueue migrate\` first`,
    );
  }
}
