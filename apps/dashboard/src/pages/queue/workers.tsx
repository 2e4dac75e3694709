import { Link } from "@tanstack/react-router";
import { useWorkers } from "../../api/workers.ts";
import { Card } from "../../components/page.tsx";
import { Meter } from "../../components/spark.tsx";
import { Answered } from "../../components/states.tsx";
import { clipped } from "../../lib/visible.ts";
import { serves } from "../queues/order.ts";

/** Who takes this queue's jobs. */
export function QueueWorkers({ queue, waiting }: { queue: string; waiting: number }) {
  const workers = useWorkers();
  return (
    <Card title="Workers" actions={<Link to="/ui/workers">All workers</Link>}>
      <Answered to={workers} rows={2}>
        {(all) => {
          const own = all.filter((worker) => serves(worker, queue));
          if (own.length === 0)
            return (
              <p className={waiting > 0 ? "fault" : "soft"}>
                {waiting > 0 ? "Jobs are ready, and no worker takes them." : "No worker takes this queue."} Workers over
                HTTP are not seen here.
              </p>
            );
          return (
            <ul className="plain-list">
              {own.slice(0, 8).map(({ id, host, pid, active, concurrency }) => (
                <li key={id}>
                  <Link to="/ui/jobs" search={{ worker: id }}>
                    <bdi>{clipped(host, 40)}</bdi> <span className="quiet num">{pid}</span>
                  </Link>
                  <Meter value={active} max={concurrency} label="Slots in use" calm />
                </li>
              ))}
            </ul>
          );
        }}
      </Answered>
    </Card>
  );
}
