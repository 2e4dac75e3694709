import { getTableColumns } from "../database/drizzle.ts";
import { jobs, type JobRow } from "../database/schema/jobs.ts";

type Large = "payload" | "result" | "progress" | "last_error";

/**
 * A job without what may be large. A thousand keys, looked up for a small request, may stand for a thousand jobs with
 * half a megabyte each.
 */
export type KnownJob = Omit<JobRow, Large>;

const large: readonly string[] = ["payload", "result", "progress", "last_error"] satisfies Large[];

/** The columns of a `KnownJob`. */
export const knownColumns = Object.values(getTableColumns(jobs))
  .map(({ name }) => name)
  .filter((name) => !large.includes(name))
  .map((name) => `jobs.${name}`)
  .join(", ");
