import { lastId } from "../ids.ts";
import { isFinal, jobStatuses } from "@atlasqueue/contract";
import { afterAPart } from "../database/errors.ts";
import { uuidArray } from "../database/literals.ts";
import type { JobRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import { replay, type Revived } from "../dead-letters/replay.ts";
import type { Deps } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import { cancelMany, type CancelledJob } from "./cancel.ts";
import { deleteFinished } from "./delete.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { findJobByKey } from "./find.ts";
import { listJobs, type JobFilter } from "./list.ts";
import { isRetryable } from "./retry.ts";
import { searchJobs } from "./search.ts";

export type BulkAction = "cancel" | "retry" | "delete" | "purge";
/** As of the list: the job a key names, or those with a text. */
type BulkFilter = JobFilter & { key?: string | undefined; search?: string | undefined };
export type BulkChoice = BulkFilter | { ids: readonly string[] };
export type BulkDeps = Deps & { followUps: Pick<FollowUps, "cancelled" | "retried" | "noLongerDead"> };

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
const page_jobs = 500;
/** Fewer are deleted at once, as each may have a thousand steps: a page that took longer than its deadline would never end. */
const deleted_jobs_max = 100;
type Found = Pick<JobRow, "id" | "status">;

/** Without what may be large: a thousand ids make a small request. */
const statuses = "SELECT id, status FROM atlasqueue.jobs WHERE id = ANY($2::uuid[]) AND tenant = $1";

/**
 * Cancel, retry or delete the jobs a filter matches, newest first, and those alone to which that can be done; `purge`
 * deletes what is not running, and cancels what waits before. A cancel stops running jobs before those that wait. Jobs
 * that another transaction has locked are passed over.
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
  which: BulkChoice,
  { dry_run, below, stop, ms_max = bulk_ms_max }: BulkOptions,
): Promise<BulkJobsOutcome> {
  const end = performance.now() + ms_max;
  const upper = below ?? lastId;
  const outcome: BulkJobsOutcome = { matched: 0, changed: 0, next: upper, first: undefined };
  let begun = false;
  try {
    do {
      const page = await findMeant(deps, tenant, action, which, { below: outcome.next, upper, dry_run });
      outcome.first ??= page.first;
      outcome.next = page.next;
      const found = page.running.length + page.meant.length > 0 && !dry_run;
      begun ||= found;
      const changed = found ? await changeAll(deps, tenant, action, page) : nothing;
      await follow(deps, changed);
      outcome.matched += foundIn(page, changed);
      outcome.changed += changed.ids.length;
    } while (outcome.next !== undefined && performance.now() <= end && !stop?.aborted);
  } catch (error) {
    throw begun ? afterAPart(error) : error;
  }
  return outcome;
}

/** `meant` are to be changed, `running` ones first; `first` and `next` as of the outcome. */
type BulkPage = { running: Found[]; meant: Found[]; next: string | undefined; first: string | undefined };

/** The jobs of one page of those `below`. No job above `upper` is meant. */
export async function findMeant(
  deps: Pick<Deps, "database">,
  tenant: string,
  action: BulkAction,
  which: BulkChoice,
  { below, upper, dry_run = false }: { below: string | undefined; upper: string; dry_run?: boolean },
): Promise<BulkPage> {
  if ("ids" in which) {
    const params = [tenant, uuidArray([...new Set(which.ids)])];
    const rows = await executeOn(deps.database)<Found>({ text: statuses, params });
    return { running: [], meant: rows.filter(({ status }) => can[action](status)), next: undefined, first: undefined };
  }
  // While those that wait are cancelled, workers start others of them.
  const { key, search, status, ...filter } = which;
  const ahead = action === "cancel" && !dry_run && (key ?? search ?? status) === undefined;
  const running = ahead ? (await listJobs(deps, tenant, { ...filter, status: "running" }, page_jobs, upper)).rows : [];
  const rows_max = action === "delete" ? deleted_jobs_max : page_jobs;
  const { rows, next } = await pageOf(deps, tenant, which, below ?? upper, rows_max);
  const meant = rows.filter((row) => can[action](row.status));
  return { running, meant, next, first: meant[0] && justAbove(meant[0].id) };
}

/** The next id there can be: what goes on below it begins with that job. */
function justAbove(id: string): string {
  const hex = (BigInt(`0x${id.replaceAll("-", "")}`) + 1n).toString(16).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

async function pageOf(
  deps: Pick<Deps, "database">,
  tenant: string,
  { key, search, ...filter }: BulkFilter,
  below: string,
  rows_max: number,
) {
  if (key !== undefined) {
    const row = await findJobByKey(deps, tenant, key, filter);
    return { rows: row && row.id < below ? [row] : [], next: undefined };
  }
  if (search !== undefined) return searchJobs(deps, tenant, filter, search, rows_max, below);
  return listJobs(deps, tenant, filter, rows_max, below);
}

export const can: Record<BulkAction, (status: JobRow["status"]) => boolean> = {
  cancel: (status) => !isFinal(status),
  retry: isRetryable,
  delete: isFinal,
  purge: (status) => status !== "running",
};
const waiting = jobStatuses.filter((status) => !isFinal(status) && status !== "running");

/** What one page changed, for `followUps`: `ids` are all of them. */
export type Changed = {
  ids: readonly string[];
  cancelled: readonly CancelledJob[];
  /** The next jobs of their groups. */
  ready: readonly ReadyJob[];
  revived: Revived;
  were_dead: string[];
};
export const nothing: Changed = { ids: [], cancelled: [], ready: [], revived: { ids: [], ready: [] }, were_dead: [] };

/** Of a page, how many jobs it was about. A running job that could not be stopped is met again later. */
export const foundIn = ({ meant }: Pick<BulkPage, "meant">, { ids }: Changed): number =>
  new Set([...meant.map(({ id }) => id), ...ids]).size;

/** Change the jobs of a page, each kind of them in one statement. Those that are locked stay as they are. */
export async function changeAll(
  deps: Deps,
  tenant: string,
  action: BulkAction,
  { running, meant }: Pick<BulkPage, "running" | "meant">,
): Promise<Changed> {
  const ids = meant.map(({ id }) => id);
  if (action === "cancel") {
    const done = await cancelMany(deps, tenant, [...running.map(({ id }) => id), ...ids]);
    return { ...nothing, ...done, ids: done.cancelled.map(({ id }) => id) };
  }
  if (action === "retry") {
    const revived = await replay(deps, { kind: "stopped", tenant, ids, rest: [], until_us: Number.MAX_SAFE_INTEGER });
    const dead = new Set(meant.flatMap(({ id, status }) => (status === "dead" ? [id] : [])));
    return { ...nothing, ids: revived.ids, revived, were_dead: revived.ids.filter((id) => dead.has(id)) };
  }
  // One that starts meanwhile is neither cancelled nor deleted.
  const open = meant.filter(({ status }) => !isFinal(status));
  const done = await cancelMany(
    deps,
    tenant,
    open.map(({ id }) => id),
    waiting,
  );
  const gone = await deleteFinished(deps, tenant, ids);
  return { ...nothing, ...done, ids: gone.ids, were_dead: gone.were_dead };
}

/** What follows once it is committed. */
export async function follow({ followUps }: Pick<BulkDeps, "followUps">, changed: Changed): Promise<void> {
  const { cancelled, ready, revived, were_dead } = changed;
  if (cancelled.length > 0) await followUps.cancelled(cancelled, ready);
  if (revived.ids.length > 0) await followUps.retried({ ready: revived.ready, were_dead });
  else if (were_dead.length > 0) await followUps.noLongerDead(were_dead);
}
