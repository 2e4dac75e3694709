import { composed } from "../database/composed.ts";
import { isFinal, traceIdOf, type Explanation, type ExplanationCode, type JobStatus } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { awaitedParents, describeAwaited, type AwaitedParent } from "../flows/awaited.ts";
import { holderOf } from "../groups/join.ts";
import { limitsReached } from "../limits/reached.ts";
import { limitUseIn, type LimitUse } from "../limits/capacity.ts";
import { announcedWorkers, servingOf } from "../queues/workers.ts";
import { handlers_max } from "../signal/presence.ts";
import type { Signal } from "../signal/signal.ts";
import { traceUrl } from "../tracing/trace-url.ts";

type Facts = LimitUse & {
  status: JobStatus;
  queue: string;
  type: string;
  group_key: string | null;
  attempts: number;
  max_attempts: number;
  run_at: Date;
  /** Later than `run_at` where a worker without a handler for its type released it. */
  due_at: Date | null;
  waits_for: string | null;
  worker_id: string | null;
  locked_until: Date | null;
  lease_has_ended: boolean;
  finished_at: Date | null;
  last_error: string | null;
  dead_reason: "attempts_exhausted" | "not_retryable" | "lease_lost" | null;
  traceparent: string | null;
  paused_at: Date | null;
  ahead: number;
  /** The job of its group let through before it. */
  head: string | null;
  /** False while it waits to be admitted after its caller's transaction, or for `parents`, the first of those it awaits. */
  has_place: boolean;
  waits_for_parents: boolean;
  awaited: number;
  parents: AwaitedParent[] | null;
  /** The failed parent it was cancelled for. */
  cancelled_by: string | null;
};
type Reason = { code: ExplanationCode; detail: string };

/** Jobs ahead in the queue are counted up to here. */
const ahead_max = 1_000;

/**
 * Why a tenant's job is not running now; undefined when there is no such job. Facts of one moment, each with a stable
 * code and a sentence for people.
 *
 * @example
 * const why = await explainJob(deps, "default", id); // { status: "queued", reasons: [{ code: "queue_paused", … }] }
 */
export async function explainJob(
  deps: Pick<Deps, "database"> & { signal: Signal; trace_url_template?: string | undefined },
  tenant: string,
  id: string,
): Promise<Explanation | undefined> {
  const [facts] = await executeOn(deps.database)<Facts>({ text, params: [id, tenant, ahead_max] });
  if (!facts) return undefined;
  const is_offered = facts.status === "queued" || wasReleased(facts);
  const missing = is_offered ? await missingWorker(deps.signal, tenant, facts) : [];
  const { status, traceparent } = facts;
  const trace_id = traceparent === null ? null : traceIdOf({ traceparent });
  const trace_url = traceUrl(deps.trace_url_template, trace_id);
  return { status, reasons: [...missing, ...reasonsOf(facts)], trace_id, trace_url };
}

/** Only when it is known: without Redis, there is no telling which workers are alive. */
async function missingWorker(signal: Signal, tenant: string, { queue, type }: Facts): Promise<Reason[]> {
  const serving = servingOf(await announcedWorkers(signal, tenant), queue);
  if (
    !serving ||
    serving.some(({ handlers }) => handlers.includes(type) || handlers.includes("*") || handlers.length >= handlers_max)
  )
    return [];
  const lacks =
    serving.length === 0
      ? `No running worker serves queue ${JSON.stringify(queue)}`
      : `No running worker of queue ${JSON.stringify(queue)} has a handler for type ${JSON.stringify(type)}`;
  return [{ code: "no_worker", detail: `${lacks} (HTTP workers aren't listed).` }];
}

const wasReleased = ({ status, waits_for, run_at, due_at }: Facts): boolean =>
  status === "scheduled" && waits_for === null && due_at !== null && due_at > run_at;

/** What the job waits for comes after its queue's pause and limits, once it is ready. */
function reasonsOf(job: Facts): Reason[] {
  if (job.status === "queued")
    return [...pausedQueue(job), ...limitsReached(job.queue, job.group_key, job), waiting(job)];
  return [mainReason(job, job.status), ...(isFinal(job.status) || job.status === "running" ? [] : pausedQueue(job))];
}

function mainReason(job: Facts, status: Exclude<JobStatus, "queued">): Reason {
  const at = (time: Date | null) => time?.toISOString() ?? "an unknown time";
  const error = job.last_error ?? "";
  const finished_at = at(job.finished_at);
  switch (status) {
    case "scheduled": {
      const { waits_for } = job;
      if (waits_for !== null) {
        const detail = `It waits for the signal ${JSON.stringify(waits_for)} until ${at(job.run_at)}.`;
        return { code: "waiting_for_signal", detail };
      }
      const released = `A worker without a handler for its type released it. It can be leased again at ${at(job.due_at)}.`;
      return { code: "scheduled", detail: wasReleased(job) ? released : `It can run from ${at(job.run_at)}.` };
    }
    case "blocked":
      return blockedBy(job);
    case "failed": {
      const attempts = `Attempt ${job.attempts} of ${job.max_attempts} failed`;
      const detail = `${attempts}. The next is due at ${at(job.run_at)}. The error was: ${error}`;
      return { code: "waiting_for_retry", detail };
    }
    case "running": {
      const ended = `${job.worker_id} stopped renewing its lease. Another worker gets the job in a few seconds.`;
      if (job.lease_has_ended) return { code: "lease_expired", detail: ended };
      return { code: "running", detail: `${job.worker_id} runs it, with a lease until ${at(job.locked_until)}.` };
    }
    case "dead": {
      const detail = `It died at ${finished_at} in attempt ${job.attempts} of ${job.max_attempts}. The error was: ${error}`;
      return { code: job.dead_reason ?? "dead", detail };
    }
    case "cancelled": {
      const detail = `It ended at ${finished_at} and never ran. ${error}`;
      if (job.cancelled_by !== null) return { code: "parent_failed", detail };
      if (job.last_error === "expired")
        return { code: "expired", detail: `It expired at ${finished_at}, as no attempt had begun by then.` };
      // Another job is the answer to it: `admit` says which.
      if (job.attempts === 0 && job.last_error !== null) return { code: "superseded", detail };
      return { code: status, detail: `It finished at ${finished_at}.` };
    }
    case "succeeded":
      return { code: status, detail: `It finished at ${finished_at}.` };
    default:
      return status satisfies never;
  }
}

function pausedQueue({ queue, paused_at }: Facts): Reason[] {
  if (!paused_at) return [];
  const detail = `Queue ${JSON.stringify(queue)} has been paused since ${paused_at.toISOString()}.`;
  return [{ code: "queue_paused", detail }];
}

const pending: Reason = {
  code: "pending_commit",
  detail: "It was submitted inside a transaction, and is queued within a second or two of the commit.",
};

function blockedBy(job: Facts): Reason {
  if (job.has_place) return behind(job);
  if (!job.waits_for_parents) return pending;
  return { code: "waiting_for_parents", detail: describeAwaited(job.awaited, job.parents ?? []) };
}

function behind({ head }: Facts): Reason {
  const detail =
    head === null
      ? "The job before it in its group has just finished. It is queued in a moment."
      : `The job ${head} of the same group must finish first.`;
  return { code: "blocked", detail };
}

function waiting({ queue, ahead }: Facts): Reason {
  const name = JSON.stringify(queue);
  if (ahead === 0)
    return { code: "waiting_for_worker", detail: `It is next in queue ${name}, and no worker has leased it yet.` };
  const many = ahead === ahead_max ? `${ahead_max} or more` : String(ahead);
  return { code: "waiting_in_queue", detail: `${many} jobs of queue ${name} come first.` };
}

/** Jobs that run before this one: a range of the index of ready jobs in index order, so that it ends at its bound. */
const before = (range: string) => `(
             SELECT 1 FROM atlasqueue.jobs AS other WHERE other.ready_at IS NOT NULL AND other.tenant = job.tenant AND other.queue = job.queue
               AND ${range}
             ORDER BY other.priority DESC, other.ready_at, other.id LIMIT $3::int)`;

// `ahead` are two ranges: with OR, the index would be read to its end, past all the jobs that come after.
const text = composed(
  "jobs/explain",
  ["id", "tenant", "ahead_max"],
  `
  SELECT job.status, job.queue, job.type, job.group_key, job.attempts, job.max_attempts, job.run_at, job.due_at, job.waits_for, job.worker_id, job.locked_until, job.finished_at,
         job.last_error, job.dead_reason, job.traceparent, coalesce((${holderOf("job")}), job_groups.heads[1]) AS head,
         job.group_seq IS DISTINCT FROM 0 AS has_place, EXISTS (SELECT FROM atlasqueue.flow_edges WHERE child = job.id) AS waits_for_parents, ${awaitedParents},
         (SELECT cancelled_by FROM atlasqueue.flow_jobs WHERE job_id = job.id) AS cancelled_by, coalesce(job.locked_until < now(), false) AS lease_has_ended, queues.paused_at,${limitUseIn("queues", "job")},
         CASE WHEN job.ready_at IS NULL THEN 0 ELSE (
           SELECT count(*)::int FROM (
             SELECT FROM (${before("other.priority > job.priority")}
             UNION ALL ${before("other.priority = job.priority AND (other.ready_at, other.id) < (job.ready_at, job.id)")}) AS earlier
             LIMIT $3::int) AS before) END AS ahead
  FROM atlasqueue.jobs AS job LEFT JOIN atlasqueue.queues ON queues.tenant = job.tenant AND queues.queue = job.queue
  LEFT JOIN atlasqueue.job_groups ON job_groups.tenant = job.tenant AND job_groups.queue = job.queue AND job_groups.group_key = job.group_key
  WHERE job.id = $1::uuid AND job.tenant = $2`,
);
