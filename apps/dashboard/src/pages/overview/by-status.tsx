import { Link } from "@tanstack/react-router";
import type { JobStatus } from "@atlasqueue/contract";
import { Card } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { count } from "../../lib/format.ts";

const order: readonly JobStatus[] = [
  "queued",
  "running",
  "failed",
  "scheduled",
  "blocked",
  "succeeded",
  "dead",
  "cancelled",
];

/** Every job there is, by what it is doing; each number leads to its list. */
export function ByStatus({ counts }: { counts: Readonly<Record<JobStatus, number>> }) {
  return (
    <Card title="Jobs by status" flush>
      <div className="statuses">
        {order.map((status) => (
          <Link key={status} to="/ui/jobs" search={{ status }}>
            <Status status={status} />
            <span className="num">{count(counts[status] ?? 0)}</span>
          </Link>
        ))}
      </div>
    </Card>
  );
}
