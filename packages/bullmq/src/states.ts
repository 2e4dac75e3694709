import type { Job as Stored, JobStatus } from "@atlasqueue/client";

export type JobState =
  | "active"
  | "completed"
  | "delayed"
  | "failed"
  | "prioritized"
  | "unknown"
  | "waiting"
  | "waiting-children";
/** "wait" is another name of "waiting". No job is "paused": it stays "waiting". */
export type JobType = Exclude<JobState, "unknown"> | "wait" | "paused";

export const allTypes: readonly JobType[] = [
  "active",
  "completed",
  "delayed",
  "failed",
  "prioritized",
  "waiting",
  "waiting-children",
];

const statuses: Record<JobType, readonly JobStatus[]> = {
  active: ["running"],
  completed: ["succeeded"],
  // A job that failed and is tried again.
  delayed: ["scheduled", "failed"],
  failed: ["dead", "cancelled"],
  paused: [],
  prioritized: ["queued"],
  wait: ["queued"],
  waiting: ["queued"],
  "waiting-children": ["blocked"],
};

export const statusesOf = (types: readonly JobType[]): JobStatus[] => [
  ...new Set(types.flatMap((type) => statuses[type])),
];

export function stateOf({ status, priority, flow_id }: Pick<Stored, "status" | "priority" | "flow_id">): JobState {
  if (status === "queued") return priority < 0 ? "prioritized" : "waiting";
  if (status === "blocked") return flow_id === null ? "waiting" : "waiting-children";
  const [type] = Object.entries(statuses).find(([, of]) => of.includes(status)) ?? ["unknown"];
  return type as JobState;
}

/** As BullMQ counts them. Jobs with a priority count as waiting. */
export function countsOf(
  types: readonly JobType[],
  counts: Partial<Record<JobStatus, number>>,
): Record<string, number> {
  const of = (type: JobType) =>
    type === "prioritized" ? 0 : statuses[type].reduce((sum, status) => sum + (counts[status] ?? 0), 0);
  return Object.fromEntries(types.map((type) => [type, of(type)]));
}
