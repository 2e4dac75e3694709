import { and, eq } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { jobs, type JobRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { pageColumns, pageRow, type PageRow, type ReadRow } from "./page-row.ts";
import type { JobFilter } from "./list.ts";

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

const fields = ["queue", "type", "status"] as const;

/** The job a tenant's idempotency key names, while it is remembered, if it is what a filter asks for. */
export async function findJobByKey(
  deps: Pick<Deps, "database">,
  tenant: string,
  key: string,
  filter: JobFilter,
): Promise<JobRow | undefined> {
  const [row] = await executeOn(deps.database)<JobRow>({ text: byKey, params: [tenant, key] });
  const { tag } = filter;
  const isMeant = row && fields.every((name) => (filter[name] ?? row[name]) === row[name]);
  return isMeant && (tag === undefined || row.tags?.includes(tag)) ? row : undefined;
}

const byKey = `
  SELECT jobs.* FROM atlasqueue.idempotency_keys AS known JOIN atlasqueue.jobs ON jobs.id = known.job_id
  WHERE known.tenant = $1 AND known.key = $2 AND known.expires_at > now() AND jobs.tenant = $1`;
