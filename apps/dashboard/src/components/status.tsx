import type { JobStatus } from "@atlasqueue/contract";

export const statusNames: Record<JobStatus, string> = {
  scheduled: "Scheduled",
  blocked: "Blocked",
  queued: "Queued",
  running: "Running",
  failed: "Failed, retrying",
  succeeded: "Succeeded",
  dead: "Dead",
  cancelled: "Cancelled",
};

/** What each means, for a person who sees the word for the first time. */
const statusMeanings: Record<JobStatus, string> = {
  scheduled: "Waits for its time",
  blocked: "Waits for its turn in a group, or for jobs it depends on",
  queued: "Ready: waits for a worker",
  running: "A worker runs it",
  failed: "The last attempt failed; it will be retried",
  succeeded: "Done",
  dead: "Failed for good; can be replayed",
  cancelled: "Ended by a person, or because a job it depends on failed",
};

export function Status({ status }: { status: JobStatus }) {
  return (
    <span className="status" data-status={status} title={statusMeanings[status]}>
      {statusNames[status]}
    </span>
  );
}
