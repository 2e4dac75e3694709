import type { Job as Stored, JobStatus } from "@atlasqueue/client";

// oxlint-disable-next-line typescript/no-explicit-any -- as in BullMQ, data without a type may be used as anything
export type Loose = any;

// A job that failed and is tried again is "delayed", as in BullMQ. "wait" is another name of "waiting".
const statuses = {
  active: ["running"],
  completed: ["succeeded"],
  delayed: ["scheduled", "failed"],
  failed: ["dead", "cancelled"],
  prioritized: ["queued"],
  wait: ["queued"],
  waiting: ["queued"],
  "waiting-children": ["blocked"],
} as const satisfies Record<string, readonly JobStatus[]>;
export type JobType = keyof typeof statuses;
export type JobState = Exclude<JobType, "wait"> | "unknown";

export const allTypes = Object.keys(statuses).filter((type) => type !== "wait") as JobType[];

export const statusesOf = (types: readonly JobType[]): JobStatus[] => [
  ...new Set(types.flatMap((type): readonly JobStatus[] => statuses[type])),
];

export function stateOf({ status, priority, flow_id }: Pick<Stored, "status" | "priority" | "flow_id">): JobState {
  if (status === "queued") return priority < 0 ? "prioritized" : "waiting";
  if (status === "blocked" && flow_id === null) return "waiting";
  return allTypes.find((type) => statusesOf([type]).includes(status)) as JobState;
}

export const isOfType = (job: Stored, type: JobType) => stateOf(job) === (type === "wait" ? "waiting" : type);

/** Jobs with a priority count as waiting. */
export function countsOf(
  types: readonly JobType[],
  counts: Partial<Record<JobStatus, number>>,
): Record<string, number> {
  const of = (type: JobType) => statusesOf([type]).reduce((sum, status) => sum + (counts[status] ?? 0), 0);
  return Object.fromEntries(types.map((type) => [type, type === "prioritized" ? 0 : of(type)]));
}
