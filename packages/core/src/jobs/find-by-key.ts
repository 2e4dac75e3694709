import type { JobRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { JobFilter } from "./list.ts";

const fields = ["queue", "type", "status"] as const;

/** The job a tenant's idempotency key names, while it is remembered, if it is what a filter asks for. */
export async function findJobByKey(
  deps: Pick<Deps, "database">,
  tenant: string,
  key: string,
  filter: JobFilter,
): Promise<JobRow | undefined> {
  const [row] = await executeOn(deps.database)<JobRow>({ text, params: [tenant, key] });
  const { tag } = filter;
  const isMeant = row && fields.every((name) => (filter[name] ?? row[name]) === row[name]);
  return isMeant && (tag === undefined || row.tags?.includes(tag)) ? row : undefined;
}

const text = `
  SELECT jobs.* FROM atlasqueue.idempotency_keys AS known JOIN atlasqueue.jobs ON jobs.id = known.job_id
  WHERE known.tenant = $1 AND known.key = $2 AND known.expires_at > now() AND jobs.tenant = $1`;
