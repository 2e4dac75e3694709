import { Link, useParams } from "@tanstack/react-router";
import { NotFoundError } from "@atlasqueue/client";
import type { Job } from "@atlasqueue/contract";
import { Copy } from "../../components/copy.tsx";
import { JsonView, TextBlock } from "../../components/json.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { Status } from "../../components/status.tsx";
import { clipped } from "../../lib/visible.ts";
import { Actions } from "./actions.tsx";
import { useJob } from "./ask.ts";
import { Explain } from "./explain.tsx";
import { JobFacts } from "./facts.tsx";
import { FlowOfJob } from "./flow.tsx";
import { Timeline } from "./timeline.tsx";

export function JobPage() {
  const { id } = useParams({ from: "/ui/jobs/$id" });
  const { job, attempts, explanation } = useJob(id);
  if (job.error instanceof NotFoundError || job.data === undefined)
    return (
      <Page title="Job">
        {job.error instanceof NotFoundError ? (
          <Empty icon="jobs" title="There is no such job">
            It may have been removed: finished jobs are kept for a time only. <Link to="/ui/jobs">All jobs</Link>
          </Empty>
        ) : (
          <Answered to={job}>{() => null}</Answered>
        )}
      </Page>
    );
  const { attempts: made, max_attempts, last_error, dead_reason } = job.data;
  const failed = last_error !== null;
  const why = dead_reason ? ` · ${dead_reason.replaceAll("_", " ")}` : "";
  const tries = (
    <Card title="Attempts" note={`${made} of ${max_attempts}${why}`}>
      <Answered to={attempts} rows={3}>
        {(all) => <Timeline job={job.data} attempts={all} />}
      </Answered>
    </Card>
  );
  return (
    <Page
      title={clipped(job.data.type, 80)}
      heading={<bdi>{clipped(job.data.type, 200)}</bdi>}
      lead={<Lead {...job.data} />}
      actions={<Actions job={job.data} />}
    >
      <Explain of={explanation.data} job={job.data} />
      <div className="job-grid">
        <div className="stack">
          {failed && tries}
          <Words {...job.data} shown_error={attempts.data?.at(-1)?.error ?? null} />
          {!failed && tries}
        </div>
        <div className="stack">
          {job.data.flow_id !== null && <FlowOfJob job={job.data} flow_id={job.data.flow_id} />}
          <JobFacts job={job.data} trace={explanation.data} />
        </div>
      </div>
    </Page>
  );
}

function Lead({ id, status }: Job) {
  return (
    <span className="job-lead">
      <Status status={status} />
      <span className="mono">{id}</span>
      <Copy text={id} what="Id" />
    </span>
  );
}

/** Everything the job says. `shown_error`: the error that its newest attempt shows. */
function Words({ payload, result, last_error, progress, shown_error }: Job & { shown_error: string | null }) {
  return (
    <>
      {last_error !== null && last_error !== shown_error && (
        <Card title="Last error">
          <TextBlock label="Last error" text={last_error} tone="bad" />
        </Card>
      )}
      {progress !== null && (
        <Card title="Progress">
          <JsonView label="Progress" value={progress} />
        </Card>
      )}
      {result !== null && (
        <Card title="Result">
          <JsonView label="Result" value={result} />
        </Card>
      )}
      <Card title="Payload">
        <JsonView label="Payload" value={payload} />
      </Card>
    </>
  );
}
