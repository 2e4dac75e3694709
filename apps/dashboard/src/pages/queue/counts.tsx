import { Link } from "@tanstack/react-router";
import type { JobStatus, Queue } from "@atlasqueue/contract";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { compact } from "../../lib/format.ts";

const shown: readonly JobStatus[] = ["queued", "running", "failed", "scheduled", "blocked", "dead", "succeeded"];

/** How many jobs are doing what; each number leads to their list. */
export function QueueCounts({ queue: { queue, counts, oldest_queued_at } }: { queue: Queue }) {
  return (
    <section className="card flush" aria-label="Counts">
      <div className="figures narrow">
        {shown.map((status) => (
          <Link key={status} to="/ui/jobs" search={{ queue, status }} className="figure">
            <Status status={status} />
            <span className="figure-value">{compact(counts[status])}</span>
            {status === "queued" && oldest_queued_at !== null && (
              <span className="figure-note">
                oldest <Time at={oldest_queued_at} />
              </span>
            )}
          </Link>
        ))}
      </div>
    </section>
  );
}
