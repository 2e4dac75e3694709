import { and, eq } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { jobs, type JobRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { pageColumns, pageRow, type PageRow, type ReadRow } from "./page-row.ts";

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

/** The same as a page has it: its JSON is only passed on. */
export async function findJobText(
  deps: Pick<Deps, "database">,
  tenant: string,
  id: string,
): Promise<PageRow | undefined> {
  const [row] = await executeOn(deps.database)<ReadRow>({ text, params: [id, tenant] });
  return row && pageRow(row);
}

const text = `SELECT ${pageColumns} FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2`;
