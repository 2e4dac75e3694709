import type { ReactNode } from "react";
import { Link } from "@tanstack/react-router";
import { explanationLink, isFinal, type Explanation, type ExplanationCode, type Job } from "@atlasqueue/contract";
import { base } from "../../base.ts";
import { Icon } from "../../components/icon.tsx";
import { visible } from "../../lib/visible.ts";

/** "Why is it not running?", and where to go about it. */
export function Explain({ of, job }: { of: Explanation | undefined; job: Job }) {
  if (!of || of.reasons.length === 0 || of.status !== job.status) return null;
  if (job.status === "running" || isFinal(job.status)) return null;
  return (
    <section className="card flush" aria-label="Why it is not running">
      {of.reasons.map(({ code, detail }) => (
        <div key={code} className="notice" data-tone="warning">
          <Icon name="schedules" />
          <span>
            <strong>Not running:</strong> {visible(detail)}
          </span>
          {Object.hasOwn(remedies, code) && remedies[code as ExplanationCode]?.(job)}
          <a href={base + explanationLink(code)}>What this means</a>
        </div>
      ))}
    </section>
  );
}

const group = ({ group: name, queue }: Job): ReactNode =>
  name !== null && (
    <Link to="/ui/jobs" search={{ group: name, queue }}>
      See its group
    </Link>
  );
const workers = () => <Link to="/ui/workers">See the workers</Link>;
const queue = ({ queue: name }: Job) => (
  <Link to="/ui/queues/$queue" params={{ queue: name }}>
    See the queue
  </Link>
);

/** Where something can be done about it; null where there is nothing to do but wait. A newer server's codes have none. */
const remedies: Record<ExplanationCode, ((job: Job) => ReactNode) | null> = {
  scheduled: null,
  pending_commit: null,
  blocked: group,
  waiting_for_parents: null,
  queue_paused: queue,
  queue_full: queue,
  rate_reached: queue,
  group_rate_reached: queue,
  no_worker: workers,
  waiting_for_worker: workers,
  waiting_in_queue: queue,
  waiting_for_retry: null,
  waiting_for_signal: null,
  running: null,
  lease_expired: workers,
  expired: workers,
  superseded: null,
  parent_failed: null,
  succeeded: null,
  cancelled: null,
  dead: null,
  attempts_exhausted: null,
  not_retryable: null,
  lease_lost: null,
};
