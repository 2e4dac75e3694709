import { connectDatabase } from "@atlasqueue/core";
import type { Deps } from "@atlasqueue/core/internal";
import { readDatabase, type Env } from "../config.ts";
import { Trouble } from "../exit.ts";

const undefined_table = "42P01";

/** Run something on DATABASE_URL and disconnect. Throws `Trouble` when AtlasQueue's tables are not there. */
export async function withDatabase<T>(env: Env, act: (deps: Deps) => Promise<T>): Promise<T> {
  const database = connectDatabase({
    ...readDatabase(env),
    connectionsMax: 1,
    timeoutMs: 10_000,
    // Nothing is asked twice, so this works through any pooler.
    preparedStatements: false,
    applicationName: "atlasqueue-cli",
  });
  try {
    return await act({ database, observe: () => {} });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined_table) throw error;
    throw new Trouble(
      `the schema ${database.schema.name} in DATABASE_URL has no AtlasQueue tables; run \`atlasqueue migrate\` first`,
    );
  } finally {
    await database.close();
  }
}
