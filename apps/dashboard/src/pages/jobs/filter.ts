import { jobStatuses, type JobStatus } from "@atlasqueue/contract";

/** Which jobs are listed. The address of the page holds it, so that it can be sent to someone. */
export type JobsFilter = {
  status?: JobStatus;
  queue?: string;
  type?: string;
  group?: string;
  tag?: string;
  key?: string;
  worker?: string;
  fingerprint?: string;
  search?: string;
  created_after?: string;
  created_before?: string;
};

const texts = ["queue", "type", "group", "tag", "key", "worker", "fingerprint", "search"] as const;
const times = ["created_after", "created_before"] as const;

/** What an address says; what it should not say is left out. */
export function readJobsFilter(given: Record<string, unknown>): JobsFilter {
  const filter: JobsFilter = {};
  const status = jobStatuses.find((each) => each === given["status"]);
  if (status) filter.status = status;
  for (const name of texts) {
    const value = given[name];
    if ((typeof value === "string" || typeof value === "number") && value !== "") filter[name] = String(value);
  }
  for (const name of times) {
    const value = given[name];
    if (typeof value === "string" && !Number.isNaN(Date.parse(value))) filter[name] = new Date(value).toISOString();
  }
  return filter;
}

/** Without the fields that are empty. */
export function changed(
  filter: JobsFilter,
  change: { [K in keyof JobsFilter]?: JobsFilter[K] | undefined },
): JobsFilter {
  const all = Object.entries({ ...filter, ...change }).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(all) as JobsFilter;
}
