import { Link } from "@tanstack/react-router";
import { NotFoundError } from "@atlasqueue/client";
import { isFinal, type FlowJob, type Job, type JobStatus, type OnParentFailure } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { useLive } from "../../api/queries.ts";
import { slow_refresh_ms } from "../../api/refresh.ts";
import { JobLink } from "../../components/job-link.tsx";
import { Card } from "../../components/page.tsx";
import { Answered } from "../../components/states.tsx";
import { Status } from "../../components/status.tsx";
import { Text } from "../../components/text.tsx";
import { plural } from "../../lib/format.ts";
import { nameOf, useFlow, type WholeFlow } from "../flow/ask.ts";
import { HowFar } from "../flows/how-far.tsx";
import { StateOfFlow } from "../flows/state.tsx";
import { jobKey } from "./ask.ts";

const parents_shown_max = 8;
const policies: Record<OnParentFailure, string> = {
  cancel: "If one of them fails, it is cancelled.",
  wait: "If one of them fails, it waits until that one is retried and succeeds.",
  run: "If one of them fails, it runs all the same.",
};

/** The flow that the job belongs to, and the jobs it depends on. */
export function FlowOfJob({ job, flow_id }: { job: Job; flow_id: string }) {
  const flow = useFlow(flow_id, slow_refresh_ms);
  return (
    <Card
      title="Flow"
      actions={
        <Link to="/ui/flows/$id" params={{ id: flow_id }}>
          See the flow
        </Link>
      }
    >
      <Answered to={flow} rows={3}>
        {(found) => {
          const own = found.items.find(({ id }) => id === job.id);
          return (
            <div className="flow-of-job">
              <div className="section-head">
                <StateOfFlow state={found.state} />
                <HowFar flow={found} />
              </div>
              {own && <Parents own={own} flow={found} />}
            </div>
          );
        }}
      </Answered>
    </Card>
  );
}

function Parents({ own, flow }: { own: FlowJob; flow: WholeFlow }) {
  const { depends_on } = own;
  if (depends_on.length === 0) return <p className="soft">It depends on no other job.</p>;
  const known = new Map(flow.items.map((job) => [job.id, job]));
  return (
    <>
      <h3>Depends on</h3>
      <ul className="plain-list">
        {depends_on.slice(0, parents_shown_max).map((id) => {
          const parent = known.get(id);
          return (
            <li key={id}>
              {parent ? <Parent id={id} name={nameOf(parent)} status={parent.status} /> : <EarlierParent id={id} />}
            </li>
          );
        })}
      </ul>
      {depends_on.length > parents_shown_max && (
        <p className="soft">and {plural(depends_on.length - parents_shown_max, "more job")}</p>
      )}
      <p className="soft">{isFinal(own.status) ? "" : `${waiting(own, known)} ${policies[own.on_parent_failure]}`}</p>
    </>
  );
}

function Parent({ id, name, status }: { id: string; name: string; status: JobStatus }) {
  return (
    <>
      <JobLink id={id}>
        <Text of={name} />
      </JobLink>
      <Status status={status} />
    </>
  );
}

/** One that was there before the flow. Retention may have removed it since it ended. */
function EarlierParent({ id }: { id: string }) {
  const job = useLive<Job>({
    key: jobKey(id),
    ask: (signal) => client.get(id, { signal }),
    every_ms: slow_refresh_ms,
  });
  if (job.data) return <Parent id={id} name={job.data.type} status={job.data.status} />;
  return (
    <>
      <Text of={id} mono />
      {job.error instanceof NotFoundError && <span className="quiet">removed</span>}
    </>
  );
}

/** Whether it waits for them. Those from before the flow are not counted here: their statuses are shown next to them. */
function waiting(
  { status, depends_on, on_parent_failure: policy }: FlowJob,
  known: ReadonlyMap<string, FlowJob>,
): string {
  if (status !== "blocked") return "";
  const holds = ({ status: its }: FlowJob) => (policy === "wait" ? its !== "succeeded" : !isFinal(its));
  const open = depends_on.flatMap((id) => known.get(id) ?? []).filter(holds);
  return open.length > 0 ? `It waits for ${open.length} of ${plural(depends_on.length, "job")}.` : "";
}
