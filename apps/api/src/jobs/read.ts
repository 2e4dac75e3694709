import {
  attemptList,
  explanation,
  getJobQuery,
  isFinal,
  jobWithParents,
  jobPage,
  limits,
  listJobsQuery,
  type AttemptList,
  type JobWithParents,
  listParentsQuery,
  parentPage,
} from "@atlasqueue/contract";
import { parentsOf, parentsPage } from "@atlasqueue/core/internal";
import {
  withPriority,
  explainJob,
  findJobText,
  findJobByKey,
  listAttempts,
  listJobs,
  searchJobs,
  showJob,
  type PageRow,
  findJob,
} from "@atlasqueue/core/internal/http";
import { unknownJob } from "../http/answers/problem.ts";
import { exampleId, exampleJob, exampleParents } from "../route/examples.ts";
import { jobPath, ok, pageOf, shortPage } from "../route/answers.ts";
import { route } from "../route/route.ts";

const reads = { tag: "Jobs", scope: "read" } as const;
const aboutJob = { ...reads, problems: ["not_found"] } as const;

const exampleAttempt: AttemptList["items"][number] = {
  attempt: 1,
  worker_id: "worker-1",
  started_at: exampleJob.created_at,
  finished_at: exampleJob.created_at,
  outcome: "failed",
  error: "no such customer",
  log: [{ at: exampleJob.created_at, line: "looked the customer up" }],
};

export const list = route(
  {
    ...reads,
    at: "GET /v1/jobs",
    id: "listJobs",
    summary: "List jobs, newest first",
    description:
      "With `search`, those with a text in payload, result or error, in any case: it reads the newest that the other " +
      "parameters match for 0.4 s, and `searched` says how far it came; go on with the cursor. With `key`, the job an " +
      "idempotency key names. A page of large jobs ends after about 4 MiB. A page of rare jobs ends after about a second: " +
      "`searched` then has how many jobs the API read, and how far back it came.",
    request: { query: listJobsQuery },
    answers: pageOf(jobPage, exampleJob, shortPage),
  },
  async ({ deps, tenant, query: { limit, cursor, key, search, ...filter } }) => {
    const page = deps.cursors.page({ list: "jobs", tenant, filter: { ...filter, key, search } }, cursor);
    if (key !== undefined) {
      const row = await findJobByKey(deps, tenant, key, filter);
      return { items: row ? [showJob(row)] : [], next_cursor: null };
    }
    if (search === undefined) {
      const { rows, next, looked_at: jobs } = await listJobs(deps, tenant, filter, limit, page.after);
      const searched = jobs === undefined || next === undefined ? {} : { searched: { jobs, back_to: madeAt(next) } };
      return { items: rows.map(showJob), next_cursor: page.next(next), ...searched };
    }
    // It costs far more than a list: a few at once, of which each tenant has a share.
    const { rows, jobs, next } = await deps.searches.hold(tenant, () =>
      searchJobs(deps, tenant, filter, search, limit, page.after),
    );
    const back_to = next === undefined ? null : madeAt(next);
    return { items: rows.map(showJob), next_cursor: page.next(next), searched: { jobs, back_to } };
  },
);

/** When the job with this id was made: a UUIDv7 begins with it. */
const madeAt = (id: string) => new Date(parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString();

export const get = route(
  {
    ...aboutJob,
    at: "GET /v1/jobs/{id}",
    id: "getJob",
    summary: "Get a job",
    description:
      "With `wait_seconds` it is answered as soon as the job is final, or when time is up. One that waits or waited for " +
      `others comes with the results of the first ${limits.parents_shown_max} of them, or of as many as have 256 KiB ` +
      "together, and says how many of all are in each status.",
    request: { path: jobPath, query: getJobQuery },
    // It may be waiting for the job, and then not for the database.
    gate: "own",
    answers: ok("The job.", jobWithParents, { ...exampleJob, flow_id: exampleId, ...exampleParents }),
  },
  async ({ deps, tenant, path: { id }, query: { wait_seconds }, hungUp }) => {
    const own = { database: withPriority(deps.database) };
    // As in a page, its JSON is only passed on. Nothing that it has read outlives it: thousands may wait.
    const show = (wanted: (row: PageRow) => boolean): Promise<JobWithParents | undefined> =>
      deps.gate.hold(tenant, async () => {
        const row = (await findJobText(own, tenant, id)) ?? unknownJob();
        if (!wanted(row)) return undefined;
        const parents = await parentsOf(own, tenant, [row]);
        return { ...showJob(row), ...parents.get(id) };
      });
    const showAny = async () => (await show(() => true)) as JobWithParents;
    if (wait_seconds === 0) return showAny();
    const over = new AbortController();
    const stop = AbortSignal.any([over.signal, hungUp()]);
    const finished = deps.finishedWaits.until({ tenant, id }, wait_seconds * 1_000, stop);
    try {
      const ended = await show(({ status }) => isFinal(status));
      if (ended) return ended;
      await finished;
    } finally {
      over.abort();
    }
    return showAny();
  },
);

export const attempts = route(
  {
    ...aboutJob,
    at: "GET /v1/jobs/{id}/attempts",
    id: "listAttempts",
    summary: "List a job's attempts",
    request: { path: jobPath },
    answers: ok("The newest 500, or as many as have about 4 MiB of logs, in their order.", attemptList, {
      items: [exampleAttempt],
    }),
  },
  async ({ deps, tenant, path: { id } }) => ({ items: (await listAttempts(deps, tenant, id)) ?? unknownJob() }),
);

export const explain = route(
  {
    ...aboutJob,
    at: "GET /v1/jobs/{id}/explain",
    id: "explainJob",
    summary: "Explain a job",
    request: { path: jobPath },
    answers: ok("Why it is not running now, in words and codes.", explanation),
  },
  async ({ deps, tenant, path: { id } }) => (await explainJob(deps, tenant, id)) ?? unknownJob(),
);

const items = Object.entries(exampleParents.parents).map(([ref, parent]) => ({ ref, ...parent }));

export const parents = route(
  {
    ...aboutJob,
    at: "GET /v1/jobs/{id}/parents",
    id: "listParents",
    summary: "List a job's parents",
    description:
      "With their results, in the order of the request. A page ends after about 1 MiB of results. One with " +
      "`result_gone` was removed, or its result was, as it was from before the flow and its time had come.",
    request: { path: jobPath, query: listParentsQuery },
    answers: ok("A page. It may be short and still have a `next_cursor`; null means there is no more.", parentPage, {
      items,
      next_cursor: null,
    }),
  },
  async ({ deps, tenant, path: { id }, query: { limit, cursor } }) => {
    const page = deps.cursors.page({ list: "parents", tenant, filter: { id } }, cursor);
    const { items: found, next } = await parentsPage(deps, tenant, id, Number(page.after ?? 0), limit);
    if (found.length === 0 && !(await findJob(deps, tenant, id))) unknownJob();
    return { items: found, next_cursor: page.next(next?.toString()) };
  },
);
