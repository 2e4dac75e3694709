/** Every status a job can have; the last three are final, and a person may replay `dead` and `cancelled` ones. */
export const jobStatuses = [
  "scheduled",
  "blocked",
  "queued",
  "running",
  "failed",
  "succeeded",
  "dead",
  "cancelled",
] as const;
export type JobStatus = (typeof jobStatuses)[number];

/** True when no worker will touch the job again, unless a person replays it. */
export function isFinal(status: JobStatus): boolean {
  return status === "succeeded" || status === "dead" || status === "cancelled";
}
