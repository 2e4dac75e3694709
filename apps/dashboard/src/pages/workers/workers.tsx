import { Link } from "@tanstack/react-router";
import type { Worker } from "@atlasqueue/contract";
import { useWorkers } from "../../api/workers.ts";
import { Card, Page } from "../../components/page.tsx";
import { Meter } from "../../components/spark.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { plural } from "../../lib/format.ts";
import { clipped } from "../../lib/visible.ts";

const tones = { running: "good", draining: "quiet", stuck: "bad" } as const;

/** Which processes run jobs, how busy they are, and for which queues. */
export function Workers() {
  const workers = useWorkers();
  const slots = workers.data?.reduce((sum, { concurrency }) => sum + concurrency, 0) ?? 0;
  return (
    <Page
      title="Workers"
      lead={workers.data && `${plural(workers.data.length, "process", "processes")}, ${plural(slots, "slot")}`}
    >
      <Card flush>
        <Answered to={workers}>
          {(all) =>
            all.length === 0 ? (
              <Empty icon="workers" title="No workers connected">
                Start one with <code>atlasqueue worker</code>. HTTP workers aren't shown.
              </Empty>
            ) : (
              <WorkerTable of={all} />
            )
          }
        </Answered>
      </Card>
    </Page>
  );
}

function WorkerTable({ of }: { of: readonly Worker[] }) {
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th>Worker</th>
            <th>State</th>
            <th>Slots</th>
            <th>Queues</th>
            <th>Handlers</th>
            <th>Last seen</th>
          </tr>
        </thead>
        <tbody>
          {of.map((worker) => (
            <WorkerRow key={worker.id} {...worker} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function WorkerRow({ id, host, pid, state, active, concurrency, queues, handlers, last_seen }: Worker) {
  return (
    <tr>
      <td>
        <Link to="/ui/jobs" search={{ worker: id }} title="The jobs it runs">
          <bdi>{clipped(host)}</bdi> <span className="quiet num">{pid}</span>
        </Link>
      </td>
      <td data-card="end">
        <span className="tag" data-tone={tones[state]}>
          {state}
        </span>
      </td>
      <td>
        <Meter value={active} max={concurrency} label="Slots in use" calm />
      </td>
      <td className="soft" data-name="queues">
        <Text of={queues.join(", ")} />
      </td>
      <td className="soft" data-name="handlers">
        <Text of={handlers.join(", ")} mono />
      </td>
      <td className="soft" data-name="heard">
        <Time at={last_seen} />
      </td>
    </tr>
  );
}
