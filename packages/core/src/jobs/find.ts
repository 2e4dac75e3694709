import { and, eq, sql } from "../database/drizzle.ts";
import { uuidArray } from "../database/literals.ts";
import { plain } from "../database/plain.ts";
import { jobs, type JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";

/** One job of a tenant, or undefined: another tenant's job is as unknown as one that never existed. */
export async function findJob(deps: Pick<Deps, "database">, tenant: string, id: string): Promise<JobRow | undefined> {
  const [row] = await plain(deps.database, (db) =>
    db
      .select()
      .from(jobs)
      .where(and(eq(jobs.id, id), eq(jobs.tenant, tenant))),
  );
  return row;
}

/** Those of the ids that are jobs of the tenant, in no order. */
export async function findJobs(
  deps: Pick<Deps, "database">,
  tenant: string,
  ids: readonly string[],
): Promise<JobRow[]> {
  return plain(deps.database, (db) =>
    db
      .select()
      .from(jobs)
      .where(and(sql`${jobs.id} = ANY(${uuidArray(ids)}::uuid[])`, eq(jobs.tenant, tenant))),
  );
}
