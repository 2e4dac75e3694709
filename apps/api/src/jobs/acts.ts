import {
  bulkJobs as bulkJobsBody,
  bulkJobsAnswer,
  editJob,
  job,
  type BulkJobs,
  type BulkJobsAnswer,
  changedJob,
  type Job,
} from "@atlasqueue/contract";
import {
  bulkJobs,
  deleteFinished,
  editAndRetry,
  findJob,
  lockedError,
  cancel as cancelJob,
  retry as retryJob,
  showJob,
} from "@atlasqueue/core/internal/http";
import { whichOf } from "../audit/told.ts";
import { ProblemError, unknownJob } from "../http/answers/problem.ts";
import type { CursorOf } from "../http/input/cursor.ts";
import { exampleId } from "../route/examples.ts";
import { noBody } from "../route/operation.ts";
import { jobPath, ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { refused } from "./refused.ts";
import { showRetried } from "./show-known.ts";
import type { RouteDeps } from "../route/deps.ts";

/** With its type an entry says which job, without a look at it. */
const tellJob = (_input: unknown, { type }: Job) => ({ detail: { type } });
const administers = { tag: "Jobs", scope: "admin" } as const;

export const edit = route(
  {
    ...administers,
    at: "POST /v1/jobs/{id}/edit",
    id: "editJob",
    audit: { action: "job.edit", tells: tellJob },
    summary: "Edit and retry a job",
    description:
      "`payload` takes the place of the payload; `patch` is merged into it (RFC 7396: null removes a field). " +
      "Otherwise like retry.",
    request: { path: jobPath, body: { schema: editJob, example: { patch: { to: "ada@example.org" } } } },
    answers: ok("The queued job.", job),
    problems: ["not_found", "not_retryable", "storage_full"],
  },
  async ({ deps, tenant, path: { id }, body: edited, bytes }) => {
    // By what it brings, as if it were a job of its own: a patch makes a payload no larger than by itself.
    await deps.storageQuota.admit(tenant, { bytes, jobs: 1, keys: [] });
    const outcome = await editAndRetry(deps, tenant, id, edited, deps.payload_bytes_max);
    if (outcome.kind === "refused")
      throw new ProblemError("too_large", `The new payload may have ${deps.payload_bytes_max} bytes of JSON at most`);
    return outcome.kind === "retried" ? showRetried(deps, outcome) : refused(outcome);
  },
);

export const remove = route(
  {
    ...administers,
    at: "DELETE /v1/jobs/{id}",
    id: "deleteJob",
    audit: { action: "job.delete" },
    summary: "Delete a finished job",
    description:
      "With its attempts; its idempotency key is free again. One that other jobs still wait for, as they are to run when " +
      "it is replayed, stays.",
    request: { path: jobPath, body: noBody },
    answers: { 204: { description: "It is deleted." } },
    problems: ["not_found", "job_not_finished", "job_awaited"],
  },
  async ({ deps, tenant, path: { id } }) => {
    const { ids, were_dead, awaited, locked } = await deleteFinished(deps, tenant, [id]);
    await deps.followUps.noLongerDead(were_dead);
    if (ids.length > 0) return;
    if (awaited.length > 0) throw new ProblemError("job_awaited", "Cancel the jobs that wait for it first");
    if (locked.length > 0) throw lockedError();
    const { status } = (await findJob(deps, tenant, id)) ?? unknownJob();
    throw new ProblemError("job_not_finished", `The job is ${status}`);
  },
);

/** A call that goes on has an entry of its own. */
const askBulk = ({ body: { action, dry_run, ids, filter } }: { body: BulkJobs }) =>
  dry_run ? (false as const) : { detail: { action, ...whichOf({ ids, ...(filter ?? { all: true }) }) } };
const tellBulk = (_input: unknown, { changed }: BulkJobsAnswer) => ({ count: changed });

export const bulk = route(
  {
    ...administers,
    at: "POST /v1/jobs/bulk",
    id: "bulkJobs",
    audit: { action: "jobs.bulk", asks: askBulk, tells: tellBulk },
    summary: "Change many jobs at once",
    description:
      "Newest first, those to which it can be done: not final, stopped (dead, cancelled, failed), or final; " +
      "`purge` deletes whatever is not running. A call by `filter` or `all` goes on for about 3 s, one by `ids` until " +
      "all are done. With `next_cursor` the next one continues, and jobs made after the first are not meant. " +
      "`matched` and `changed` are of this call; a job retried while one of its parents stays dead or cancelled counts as " +
      "changed, and is cancelled again. With `dry_run` it only counts, and its `first_cursor`, sent as " +
      "the `cursor` of the first call, leaves what was made after those counted.",
    request: {
      body: {
        schema: bulkJobsBody,
        example: { action: "cancel", filter: { queue: "mails", status: "queued" }, dry_run: true },
        foreign: { action: "cancel", ids: [exampleId] },
      },
    },
    answers: ok("How far this call came.", bulkJobsAnswer, { matched: 1_200, changed: 1_200, next_cursor: null }),
  },
  async ({ deps, tenant, body: { action, ids, filter = {}, cursor, dry_run }, hungUp }) => {
    // The same place, whether it is looked at or done.
    const of: CursorOf = { list: "bulk", tenant, filter: { action, dry_run, ...filter } };
    const options = { dry_run, below: deps.cursors.read(of, cursor), stop: hungUp() };
    const act = () => bulkJobs(deps, tenant, action, ids ? { ids } : filter, options);
    // A search costs far more than a list.
    const found = await (filter.search === undefined ? act() : deps.searches.hold(tenant, act));
    const { matched, changed, next, first } = found;
    const next_cursor = next === undefined ? null : deps.cursors.write(of, next);
    if (!dry_run || first === undefined) return { matched, changed, next_cursor };
    const first_cursor = deps.cursors.write({ ...of, filter: { ...of.filter, dry_run: false } }, first);
    return { matched, changed, next_cursor, first_cursor };
  },
);

const underKey =
  "Sent again with the same `Idempotency-Key`, it changes nothing more: the answer is the job as it is then.";

export const cancel = route(
  {
    at: "POST /v1/jobs/{id}/cancel",
    id: "cancelJob",
    audit: { action: "job.cancel", tells: tellJob },
    tag: "Jobs",
    summary: "Cancel a job",
    description: `Any job that is not final. If it is running, its lease ends and its handler is aborted. ${underKey}`,
    scope: "submit",
    request: { path: jobPath, idempotency_key: "optional", body: noBody },
    answers: ok("The cancelled job.", changedJob),
    problems: ["not_found", "job_finished"],
  },
  async ({ deps, tenant, path: { id }, repeated }) => {
    if (repeated) return showAsIs(deps, tenant, id);
    const outcome = await cancelJob(deps, tenant, id);
    if (outcome.kind !== "cancelled") return refused(outcome);
    await deps.followUps.cancelled([outcome.job], outcome.ready);
    return showJob(outcome.job);
  },
);

export const retry = route(
  {
    at: "POST /v1/jobs/{id}/retry",
    id: "retryJob",
    audit: { action: "job.retry", tells: tellJob },
    tag: "Jobs",
    summary: "Retry a job",
    description: `A dead, cancelled or failed job is queued now with no attempts counted. Its history is kept. ${underKey}`,
    scope: "submit",
    request: { path: jobPath, idempotency_key: "optional", body: noBody },
    answers: ok("The queued job.", changedJob),
    problems: ["not_found", "not_retryable"],
  },
  async ({ deps, tenant, path: { id }, repeated }) => {
    if (repeated) return showAsIs(deps, tenant, id);
    const outcome = await retryJob(deps, tenant, id);
    return outcome.kind === "retried" ? showRetried(deps, outcome) : refused(outcome);
  },
);

/** What a request that is repeated under its key is answered with. */
async function showAsIs(deps: RouteDeps, tenant: string, id: string): Promise<Job> {
  return showJob((await findJob(deps, tenant, id)) ?? unknownJob());
}
