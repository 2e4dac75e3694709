import { useState } from "react";
import { Link } from "@tanstack/react-router";
import type { Schedule } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { useLive, queries } from "../../api/queries.ts";
import { slow_refresh_ms } from "../../api/refresh.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { Status } from "../../components/status.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { schedulesKey, useScheduleActs } from "./ask.ts";

type Props = { of: readonly Schedule[]; onEdit: (schedule: Schedule) => void };

export function ScheduleTable({ of, onEdit }: Props) {
  const [gone, setGone] = useState<string>();
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th>Schedule</th>
            <th>When</th>
            <th>Job</th>
            <th>Next run</th>
            <th>Last run</th>
            <th>
              <span className="unseen">What to do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {of.map((schedule) => (
            <Row key={schedule.name} schedule={schedule} onEdit={onEdit} onDelete={setGone} />
          ))}
        </tbody>
      </table>
      {gone !== undefined && (
        <Confirm
          title={`Delete ${gone}?`}
          verb="Delete"
          act={async () => {
            await client.schedules.delete(gone);
            await queries.invalidateQueries({ queryKey: schedulesKey });
          }}
          onClose={() => setGone(undefined)}
        >
          It makes no more jobs. Those it made stay.
        </Confirm>
      )}
    </div>
  );
}

function Row({
  schedule,
  onEdit,
  onDelete,
}: {
  schedule: Schedule;
  onEdit: Props["onEdit"];
  onDelete: (name: string) => void;
}) {
  const { name, cron, timezone, job, paused, next_runs } = schedule;
  const { pause, resume, run } = useScheduleActs();
  const may = useMay("admin");
  return (
    <tr>
      <td>
        <span className="with-tag">
          <strong className="clip">{name}</strong>
          {paused && (
            <span className="tag" data-tone="warning">
              Paused
            </span>
          )}
        </span>
      </td>
      <td>
        <span className="cron">
          <span className="mono">{cron}</span>
          <span className="quiet">{timezone}</span>
        </span>
      </td>
      <td className="soft">
        <Text of={`${job.type} in ${job.queue}`} />
      </td>
      <td className="soft" data-name="next">
        {next_runs[0] ? <Time at={next_runs[0]} /> : <span className="quiet">–</span>}
      </td>
      <td data-name="last">
        <LastRun {...schedule} />
      </td>
      <td>
        {may && (
          <div className="row-actions">
            <Button
              kind="ghost"
              icon="play"
              aria-label="Run now"
              disabled={run.isPending}
              onClick={() => run.mutate(schedule)}
            >
              Run now
            </Button>
            <Button kind="ghost" icon="edit" aria-label={`Edit ${name}`} onClick={() => onEdit(schedule)}>
              Edit
            </Button>
            <Button
              kind="ghost"
              icon={paused ? "replay" : "pause"}
              aria-label={`${paused ? "Resume" : "Pause"} ${name}`}
              onClick={() => (paused ? resume : pause).mutate(name)}
            >
              {paused ? "Resume" : "Pause"}
            </Button>
            <Button kind="ghost" icon="trash" aria-label={`Delete ${name}`} onClick={() => onDelete(name)}>
              Delete
            </Button>
          </div>
        )}
      </td>
    </tr>
  );
}

/** When it fired last, and what became of that job. */
function LastRun({ last_run, last_job_id: id }: Schedule) {
  const job = useLive({
    key: ["job", id],
    ask: (signal) => client.get(id ?? "", { signal }),
    every_ms: slow_refresh_ms,
    enabled: id !== null,
  });
  if (last_run === null) return <span className="quiet">never</span>;
  return (
    <span className="with-tag">
      <span className="soft">
        <Time at={last_run} />
      </span>
      {id !== null && job.data && (
        <Link to="/ui/jobs/$id" params={{ id }}>
          <Status status={job.data.status} />
        </Link>
      )}
    </span>
  );
}
