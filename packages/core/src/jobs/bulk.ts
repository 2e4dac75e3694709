import { isFinal, jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { afterAPart, DatabaseTimeoutError } from "../database/errors.ts";
import { uuidArray } from "../database/literals.ts";
import type { JobRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import { cancel } from "./cancel.ts";
import { deleteFinished } from "./delete.ts";
import { findJobByKey } from "./find-by-key.ts";
import { listJobs, type JobFilter } from "./list.ts";
import { isRetryable, retryAmongOthers } from "./retry.ts";
import { searchJobs } from "./search.ts";

export type BulkAction = "cancel" | "retry" | "delete" | "purge";
/** As of the list: the job a key names, or those with a text. */
export type BulkFilter = JobFilter & { key?: string | undefined; search?: string | undefined };
type BulkDeps = Deps & { followUps: Pick<FollowUps, "cancelled" | "retried" | "noLongerDead"> };

/**
 * `matched` and `changed` are of this call; `next` is where the next one goes on, undefined at the end. `first` is where a
 * call begins that means none newer than those of this one; undefined if it found none, or was given ids.
 */
export type BulkJobsOutcome = {
  matched: number;
  changed: number;
  next: string | undefined;
  first: string | undefined;
};

/** `below` is the `next` or `first` of a call before this one. */
type BulkOptions = { dry_run: boolean; below?: string | undefined; stop?: AbortSignal; ms_max?: number };

/** How long a call goes on before it says how far it came. */
const bulk_ms_max = 3_000;
const page_jobs = 100;
/** Not the newest id by our own clock: that of the process that made a job may be ahead. */
const after_all = "ffffffff-ffff-ffff-ffff-ffffffffffff";
type Found = Pick<JobRow, "id" | "status">;

/** Without what may be large: a thousand ids make a small request. */
const statuses = "SELECT id, status FROM jobs WHERE id = ANY($2::uuid[]) AND tenant = $1";
/** Those that are free: a job that somebody keeps locked must not hold up the others at every call. */
const unlocked = `${statuses} FOR UPDATE SKIP LOCKED`;
const rowsOf = (deps: Deps, text: string, tenant: string, ids: readonly string[]): Promise<readonly Found[]> =>
  executeOn(deps.database)<Found>({ text, params: [tenant, uuidArray(ids)] });

/** Jobs changed side by side, each in a transaction of its own. */
const lanes = 8;

/**
 * Cancel, retry or delete the jobs a filter matches, newest first, and those alone to which that can be done; `purge`
 * deletes what is not running, and cancels what waits before. A cancel stops running jobs before those that wait. Jobs that another transaction has locked are passed over.
 * A retried job waits for all its parents, as these may be retried too: for one that failed and is not, it is cancelled
 * again. It ends after 3 s, or when the caller is gone, and says how far it came; given ids, it does them all. What is
 * made after the first call is not meant: it goes on `below` that. With `dry_run` it only counts.
 *
 * @example
 * const { changed, next } = await bulkJobs(deps, "default", "cancel", { queue: "mail" }, { dry_run: false });
 */
export async function bulkJobs(
  deps: BulkDeps,
  tenant: string,
  action: BulkAction,
  which: BulkFilter | { ids: readonly string[] },
  { dry_run, below, stop, ms_max = bulk_ms_max }: BulkOptions,
): Promise<BulkJobsOutcome> {
  const end = performance.now() + ms_max;
  const so_far: BulkTally = { matched: 0, changed: 0, begun: false, first: undefined };
  const upper = below ?? after_all;
  let next: string | undefined = upper;
  try {
    do next = await bulkPage(deps, tenant, action, which, { below: next, upper, dry_run }, so_far);
    while (next !== undefined && performance.now() <= end && !stop?.aborted);
  } catch (error) {
    throw so_far.begun ? afterAPart(error) : error;
  }
  const { matched, changed, first } = so_far;
  return { matched, changed, next, first };
}

/** What the pages of a bulk operation came to. `begun`: a job may be changed, `first` as of the outcome. */
type BulkTally = { matched: number; changed: number; begun: boolean; first: string | undefined };

/** One page of those `below`; returns where the next one begins. No job above `upper` is meant. Adds to `tally`. */
async function bulkPage(
  deps: BulkDeps,
  tenant: string,
  action: BulkAction,
  which: BulkFilter | { ids: readonly string[] },
  { below, upper, dry_run }: { below: string; upper: string; dry_run: boolean },
  tally: BulkTally,
): Promise<string | undefined> {
  const change = async (meant: readonly Found[]): Promise<number> => {
    if (dry_run || meant.length === 0) return 0;
    tally.begun = true;
    const changed = await changeAll(deps, tenant, action, meant);
    tally.changed += changed;
    return changed;
  };
  // While those that wait are cancelled, workers start others of them.
  if (
    action === "cancel" &&
    !("ids" in which) &&
    which.key === undefined &&
    which.search === undefined &&
    !which.status
  )
    tally.matched += await change((await pageOf(deps, tenant, { ...which, status: "running" }, upper)).rows);
  const page =
    "ids" in which
      ? { rows: await rowsOf(deps, statuses, tenant, [...new Set(which.ids)]), next: undefined }
      : await pageOf(deps, tenant, which, below);
  const meant = page.rows.filter(({ status }) => can[action](status));
  tally.matched += meant.length;
  if (!("ids" in which)) tally.first ??= meant[0] && justAbove(meant[0].id);
  await change(meant);
  return page.next;
}

/** The next id there can be: what goes on below it begins with that job. */
function justAbove(id: string): string {
  const hex = (BigInt(`0x${id.replaceAll("-", "")}`) + 1n).toString(16).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

async function pageOf(deps: BulkDeps, tenant: string, { key, search, ...filter }: BulkFilter, below: string) {
  if (key !== undefined) {
    const row = await findJobByKey(deps, tenant, key, filter);
    return { rows: row && row.id < below ? [row] : [], next: undefined };
  }
  if (search !== undefined) return searchJobs(deps, tenant, filter, search, page_jobs, below);
  return listJobs(deps, tenant, filter, page_jobs, below);
}

const can: Record<BulkAction, (status: JobRow["status"]) => boolean> = {
  cancel: (status) => !isFinal(status),
  retry: isRetryable,
  delete: isFinal,
  purge: (status) => status !== "running",
};
const waiting = jobStatuses.filter((status) => !isFinal(status) && status !== "running");

async function changeAll(
  deps: BulkDeps,
  tenant: string,
  action: BulkAction,
  jobs: readonly Pick<JobRow, "id" | "status">[],
): Promise<number> {
  if (action === "delete" || action === "purge") {
    // One that starts meanwhile is neither cancelled nor deleted.
    const open = jobs.filter(({ status }) => !isFinal(status));
    await sideBySide(deps, tenant, open, (id) => cancelOne(deps, tenant, id, waiting));
    const { ids, were_dead } = await deleteFinished(
      deps,
      tenant,
      jobs.map(({ id }) => id),
    );
    await deps.followUps.noLongerDead(were_dead);
    return ids.length;
  }
  const changeOne = action === "cancel" ? cancelOne : retryOne;
  return sideBySide(deps, tenant, jobs, (id) => changeOne(deps, tenant, id));
}

/** For how many of those that are free it was true. */
async function sideBySide(
  deps: BulkDeps,
  tenant: string,
  jobs: readonly Pick<JobRow, "id">[],
  changeOne: (id: string) => Promise<boolean>,
): Promise<number> {
  const ids = jobs.map(({ id }) => id);
  const free = new Set((await rowsOf(deps, unlocked, tenant, ids)).map(({ id }) => id));
  const left = ids.filter((id) => free.has(id));
  let changed = 0;
  let timeouts = 0;
  const lane = async (): Promise<void> => {
    for (let id = left.shift(); id; id = left.shift()) {
      const done = await changeOne(id).catch((error: unknown) => {
        // Locked since: as if it had been at the look. What the others did must be told.
        if (!(error instanceof DatabaseTimeoutError)) throw error;
        timeouts += 1;
        // Not a lock here and there, but a database with too much to do: the call must not wait for each job.
        if (timeouts >= lanes) left.length = 0;
        return false;
      });
      // Counted after the wait: the other lanes count meanwhile.
      if (done) changed += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return changed;
}

async function cancelOne(deps: BulkDeps, tenant: string, id: string, from?: readonly JobStatus[]): Promise<boolean> {
  const outcome = await cancel(deps, tenant, id, from);
  if (outcome.kind === "cancelled") await deps.followUps.cancelled(outcome.job);
  return outcome.kind === "cancelled";
}

async function retryOne(deps: BulkDeps, tenant: string, id: string): Promise<boolean> {
  const outcome = await retryAmongOthers(deps, tenant, id);
  if (outcome.kind !== "retried") return false;
  const { job, was_dead } = outcome;
  await deps.followUps.retried({ ready: job.status === "queued" ? [job] : [], were_dead: was_dead ? [id] : [] });
  return true;
}
