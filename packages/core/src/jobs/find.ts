import { composed } from "../database/composed.ts";
import { and, eq } from "../database/drizzle.ts";
import { hidden, uuidArray } from "../database/literals.ts";
import { plain } from "../database/plain.ts";
import { jobs, type JobRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { fitting, pageColumns, pageRow, weighedJobs, type PageRow, type ReadRow } from "./page-bytes.ts";

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

/** Those of the ids that are jobs of the tenant, newest first, as many as fit into a page. */
export async function findJobs(
  deps: Pick<Deps, "database">,
  tenant: string,
  ids: readonly string[],
): Promise<PageRow[]> {
  const rows = await executeOn(deps.database)<ReadRow>({ text: several, params: [tenant, uuidArray(ids)] });
  return rows.map(pageRow);
}

const several = composed(
  "jobs/find-several",
  ["tenant", "ids"],
  `
  WITH RECURSIVE page AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(${hidden("$2::uuid[]")}) AND tenant = $1
  ), ${fitting(weighedJobs)}
  SELECT ${pageColumns} FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting)) AND tenant = $1 ORDER BY id DESC`,
);
