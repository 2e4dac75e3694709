import { jobChecks } from "@atlasqueue/core/internal";
import type { Sql } from "postgres";

/**
 * Has a database refuse rows of `jobs` that break one of `jobChecks`, which in production only `doctor` looks for. Added
 * again it changes nothing.
 *
 * @example
 * await addJobChecks(sql);
 */
export async function addJobChecks(sql: Pick<Sql, "unsafe">): Promise<void> {
  const clauses = Object.entries(jobChecks).map(
    ([name, condition]) => `DROP CONSTRAINT IF EXISTS ${name}, ADD CONSTRAINT ${name} CHECK (${condition})`,
  );
  await sql.unsafe(`ALTER TABLE atlasqueue.jobs ${clauses.join(", ")}`);
}
