import { isFinal, type Attempt, type Job } from "@atlasqueue/contract";
import { TextBlock } from "../../components/json.tsx";
import { Time } from "../../components/time.tsx";
import { useNow } from "../../lib/clock.ts";
import { clockTime, span } from "../../lib/format.ts";
import { clipped } from "../../lib/visible.ts";

const words = {
  succeeded: "Succeeded",
  failed: "Failed",
  lost: "Lost its lease",
  cancelled: "Cancelled",
  running: "Running",
};
const tones = { succeeded: "good", failed: "bad", lost: "warning", cancelled: "quiet", running: undefined } as const;

/** From its making to now, newest first: the waits and the attempts, with what they logged. */
export function Timeline({ job, attempts }: { job: Job; attempts: readonly Attempt[] }) {
  const newest = attempts.toReversed();
  return (
    <ol className="timeline">
      {!isFinal(job.status) && job.status !== "running" && (
        <li data-tone="quiet">
          {job.status === "blocked" ? (
            <p>Waits for its turn</p>
          ) : (
            <p>
              {job.status === "queued" ? "Waits for a worker" : "Next try"}, due <Time at={job.run_at} />
            </p>
          )}
        </li>
      )}
      {newest.map((attempt, at) => (
        <AttemptItem
          key={`${attempt.attempt} ${attempt.started_at}`}
          attempt={attempt}
          before={newest[at + 1]?.finished_at ?? job.created_at}
          open={at === 0}
          newer={at === 0 ? null : (newest[at - 1] ?? null)}
          last_error={at === 0 ? job.last_error : null}
        />
      ))}
      <li data-tone="quiet">
        <p>
          Submitted <Time at={job.created_at} />
        </p>
      </li>
    </ol>
  );
}

type AttemptProps = {
  attempt: Attempt;
  before: string;
  open: boolean;
  newer: Attempt | null;
  last_error: string | null;
};

/** An error that the attempt after it had too is folded. */
function AttemptItem({ attempt, before, open, newer, last_error }: AttemptProps) {
  const { outcome, started_at, worker_id, error, log } = attempt;
  return (
    <li data-tone={tones[outcome]} data-status={outcome === "running" ? "running" : undefined}>
      <p className="attempt-head">
        <strong>
          #{attempt.attempt} {words[outcome]}
        </strong>
        <span className="soft num">
          <Lasted {...attempt} />
          {started_at && Date.parse(started_at) > Date.parse(before) && (
            <> after waiting {span(Date.parse(started_at) - Date.parse(before))}</>
          )}
        </span>
        {started_at && (
          <span className="quiet">
            <Time at={started_at} />
          </span>
        )}
      </p>
      {worker_id && <bdi className="mono quiet clip">{clipped(worker_id)}</bdi>}
      {error !== null && error === newer?.error ? (
        <details>
          <summary>The same error as #{newer.attempt}</summary>
          <TextBlock label={`Error of attempt ${attempt.attempt}`} text={error} tone="bad" />
        </details>
      ) : (
        error !== null && (
          <TextBlock
            label={error === last_error ? "Last error" : `Error of attempt ${attempt.attempt}`}
            text={error}
            tone="bad"
          />
        )
      )}
      {log.length > 0 && (
        <details open={open}>
          <summary>{log.length === 1 ? "1 line" : `${log.length} lines`} of log</summary>
          <TextBlock
            label={`Log of attempt ${attempt.attempt}`}
            text={log.map(({ at, line }) => `${clockTime(at)}  ${line}`).join("\n")}
          />
        </details>
      )}
    </li>
  );
}

function Lasted({ started_at, finished_at }: Attempt) {
  const now = useNow();
  if (started_at === null) return null;
  const end = finished_at === null ? Math.max(now, Date.parse(started_at)) : Date.parse(finished_at);
  return <>ran {span(end - Date.parse(started_at))}</>;
}
