import { Link } from "@tanstack/react-router";
import type { Job, Worker } from "@atlasqueue/contract";
import { useRunning, useWorkers } from "../../api/workers.ts";
import { JobLink } from "../../components/job-link.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Meter } from "../../components/spark.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { Text } from "../../components/text.tsx";
import { MaybeTime, Time } from "../../components/time.tsx";
import { bytes, count, plural } from "../../lib/format.ts";
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
  const running = useRunning();
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th>Worker</th>
            <th>State</th>
            <th>Slots</th>
            <th>Runs now</th>
            <th className="num">Jobs /min</th>
            <th className="num">Memory</th>
            <th>Version</th>
            <th>Started</th>
            <th>Queues</th>
            <th>Handlers</th>
            <th>Last seen</th>
          </tr>
        </thead>
        <tbody>
          {of.map((worker) => (
            <WorkerRow
              key={worker.id}
              {...worker}
              jobs={running.data?.filter(({ worker_id }) => worker_id === worker.id) ?? []}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function WorkerRow({ jobs, ...worker }: Worker & { jobs: readonly Job[] }) {
  const { id, host, pid, state, active, concurrency, queues, handlers, last_seen } = worker;
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
      <td data-name={active > 0 ? "runs" : undefined}>
        <Runs worker={id} active={active} jobs={jobs} />
      </td>
      <td className="num" data-name="jobs /min">
        {worker.jobs_per_minute === null ? "–" : count(worker.jobs_per_minute)}
      </td>
      <td className="num" data-name="memory">
        {worker.memory_bytes === null ? "–" : bytes(worker.memory_bytes)}
      </td>
      <td className="soft" data-name="version">
        <Text of={worker.version ?? "–"} />
      </td>
      <td className="soft" data-name="started">
        <MaybeTime at={worker.started_at} />
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

const shown_max = 2;

/** The newest jobs that it runs, and a way to the others. */
function Runs({ worker, active, jobs }: { worker: string; active: number; jobs: readonly Job[] }) {
  const first = jobs.slice(0, shown_max);
  const more = Math.max(active, jobs.length) - first.length;
  return (
    <span className="runs">
      {first.map(({ id, type }) => (
        <JobLink key={id} id={id}>
          <Text of={type} />
        </JobLink>
      ))}
      {more > 0 && (
        <Link to="/ui/jobs" search={{ worker }}>
          {first.length > 0 ? `and ${count(more)} more` : plural(more, "job")}
        </Link>
      )}
    </span>
  );
}
