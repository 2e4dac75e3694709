import type { FlowState, JobStatus } from "@atlasqueue/contract";

export const stateNames: Record<FlowState, string> = {
  running: "Running",
  held: "Blocked",
  succeeded: "Succeeded",
  failed: "Failed",
  cancelled: "Cancelled",
};

/** What each means, for a person who sees the word for the first time. */
const stateMeanings: Record<FlowState, string> = {
  running: "Some of its jobs have not finished",
  held: "The remaining jobs depend on failed jobs",
  succeeded: "All its jobs succeeded",
  failed: "All its jobs have ended, and at least one is dead",
  cancelled: "All its jobs have ended, and at least one was cancelled",
};

/** A flow looks like a job of that status. */
const looks: Record<FlowState, JobStatus> = {
  running: "running",
  held: "blocked",
  succeeded: "succeeded",
  failed: "dead",
  cancelled: "cancelled",
};

export function StateOfFlow({ state }: { state: FlowState }) {
  return (
    <span className="status" data-status={looks[state]} title={stateMeanings[state]}>
      {stateNames[state]}
    </span>
  );
}
