import { uuidArray } from "../database/literals.ts";
import { bounded } from "../database/bounded.ts";
import type { JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";

/** One job of a tenant, or undefined: another tenant's job is as unknown as one that never was. */
export async function findJob(deps: Pick<Deps, "database">, tenant: string, id: string): Promise<JobRow | undefined> {
  const { sql } = deps.database;
  const [row] = await bounded(deps.database, sql<JobRow[]>`SELECT * FROM jobs WHERE id = ${id} AND tenant = ${tenant}`);
  return row;
}

/** Those of the ids that are jobs of the tenant, in no order. */
export async function findJobs(
  deps: Pick<Deps, "database">,
  tenant: string,
  ids: readonly string[],
): Promise<JobRow[]> {
  const { sql } = deps.database;
  return bounded(
    deps.database,
    sql<JobRow[]>`SELECT * FROM jobs WHERE id = ANY(${uuidArray(ids)}::uuid[]) AND tenant = ${tenant}`,
  );
}
