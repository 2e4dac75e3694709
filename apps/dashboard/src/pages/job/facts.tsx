import { Link } from "@tanstack/react-router";
import type { Explanation, Job } from "@atlasqueue/contract";
import { Card, Facts } from "../../components/page.tsx";
import { MaybeTime, Time } from "../../components/time.tsx";
import { span } from "../../lib/format.ts";
import { clipped } from "../../lib/visible.ts";

/** What the job is, field by field. */
export function JobFacts({ job, trace }: { job: Job; trace: Explanation | undefined }) {
  const { group, worker_id: worker } = job;
  return (
    <Card title="About">
      <Facts
        of={[
          [
            "Queue",
            <Link key="q" to="/ui/queues/$queue" params={{ queue: job.queue }}>
              {job.queue}
            </Link>,
          ],
          ["Priority", job.priority],
          [
            "Group",
            group === null ? (
              <span className="quiet">none</span>
            ) : (
              <Link to="/ui/jobs" search={{ group, queue: job.queue }}>
                <bdi>{clipped(group)}</bdi>
              </Link>
            ),
          ],
          ...(job.tags === null
            ? []
            : [
                [
                  "Tags",
                  <span key="t" className="tags">
                    {job.tags.map((tag) => (
                      <Link key={tag} to="/ui/jobs" search={{ tag }}>
                        {tag}{" "}
                      </Link>
                    ))}
                  </span>,
                ] as [string, React.ReactNode],
              ]),
          [
            "Timeout",
            job.timeout_seconds === null ? <span className="quiet">default</span> : span(job.timeout_seconds * 1_000),
          ],
          ["Created", <Time key="c" at={job.created_at} />],
          ["Due", <Time key="r" at={job.run_at} />],
          ...(job.waits_for === null
            ? []
            : [
                ["Waits for", <bdi key="w">{`the signal ${clipped(job.waits_for)}`}</bdi>] as [string, React.ReactNode],
              ]),
          ...(job.expires_at === null
            ? []
            : [["Expires", <Time key="e" at={job.expires_at} />] as [string, React.ReactNode]]),
          ["Started", <MaybeTime key="s" at={job.started_at} />],
          ["Finished", <MaybeTime key="f" at={job.finished_at} />],
          ["Ran for", ranFor(job)],
          [
            "Worker",
            worker === null ? (
              <span className="quiet">none</span>
            ) : (
              <Link to="/ui/jobs" search={{ worker }}>
                <bdi className="mono">{clipped(worker)}</bdi>
              </Link>
            ),
          ],
          ["Lease until", <MaybeTime key="l" at={job.locked_until} />],
          ["Changed", <Time key="u" at={job.updated_at} />],
          ["Trace", <Trace key="t" of={trace} />],
        ]}
      />
    </Card>
  );
}

/** A link only where the API says so, and only to a page: what the operator set has been checked there. */
function Trace({ of }: { of: Explanation | undefined }) {
  if (!of?.trace_id) return <span className="quiet">no trace</span>;
  const id = <span className="mono">{of.trace_id}</span>;
  if (of.trace_url === null || !/^https?:\/\//i.test(of.trace_url)) return id;
  return (
    <a href={of.trace_url} target="_blank" rel="noopener noreferrer">
      {id}
    </a>
  );
}

function ranFor({ started_at, finished_at }: Job): string {
  if (started_at === null || finished_at === null) return "–";
  return span(Date.parse(finished_at) - Date.parse(started_at));
}
