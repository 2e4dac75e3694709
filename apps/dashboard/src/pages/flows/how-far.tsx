import { isFinal, type Flow, type JobStatus } from "@atlasqueue/contract";
import { statusNames } from "../../components/status.tsx";
import { count } from "../../lib/format.ts";

/** What has ended comes first, and what runs after it; the rest of the bar is what has not begun. */
const order: readonly JobStatus[] = ["succeeded", "dead", "cancelled", "running"];

type Counts = Flow["counts"];

/** How many of its jobs have ended, however they did. */
export function endedOf(counts: Counts): number {
  return Object.entries(counts).reduce((sum, [status, jobs]) => sum + (isFinal(status as JobStatus) ? jobs : 0), 0);
}

/** How far a flow is: "12 / 40", and a bar that says how they ended. */
export function HowFar({ flow: { jobs, counts } }: { flow: Pick<Flow, "jobs" | "counts"> }) {
  const ended = endedOf(counts);
  const some = order.filter((status) => counts[status] > 0);
  const parts = some.map((status) => `${count(counts[status])} ${statusNames[status].toLowerCase()}`);
  const bars = some.map((status, at) => ({
    status,
    from: some.slice(0, at).reduce((sum, each) => sum + counts[each], 0),
  }));
  return (
    <span className="how-far">
      <svg
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        role="img"
        aria-label={[`${count(ended)} of ${count(jobs)} jobs have ended`, ...parts].join(", ")}
      >
        {bars.map(({ status, from }) => (
          <rect
            key={status}
            data-status={status}
            x={(from / jobs) * 100}
            width={(counts[status] / jobs) * 100}
            height="6"
          />
        ))}
      </svg>
      <span className="num">
        {count(ended)} / {count(jobs)}
      </span>
    </span>
  );
}
