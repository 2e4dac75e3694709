import type { Job as Stored, JobStatus } from "@atlasqueue/client";

// oxlint-disable-next-line typescript/no-explicit-any -- as in BullMQ, data without a type may be used as anything
export type Loose = any;

/** A job that failed and is tried again is "delayed", as in BullMQ. "wait" is another name of "waiting". */
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
export const statusesOf = (type: JobType): readonly JobStatus[] => statuses[type];

export function stateOf(job: Stored | undefined): JobState {
  if (!job) return "unknown";
  if (job.status === "queued") return job.priority < 0 ? "prioritized" : "waiting";
  if (job.status === "blocked" && job.flow_id === null) return "waiting";
  return allTypes.find((type) => statusesOf(type).includes(job.status)) as JobState;
}
