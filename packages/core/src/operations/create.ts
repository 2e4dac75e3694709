import {
  jobStatuses,
  limits,
  type Actor,
  type JobsFilter,
  type JsonObject,
  type ReplayFilter,
  type ReplayPreview,
} from "@atlasqueue/contract";
import { countJobs } from "../counts/total.ts";
import { composed } from "../database/composed.ts";
import type { OperationRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import { byMillisecond, countDead, deadByNow } from "../dead-letters/count.ts";
import { errorPattern } from "../dead-letters/fingerprint.ts";
import { listDead } from "../dead-letters/list.ts";
import type { Deps } from "../deps.ts";
import { newId, firstId } from "../ids.ts";
import { bulkJobs, can, type BulkAction, type BulkDeps } from "../jobs/bulk.ts";
import { readPatched } from "./page.ts";
import { deadFilterOf } from "./rows.ts";

/** How long jobs are counted before an operation starts. */
const count_ms_max = 1_000;

/** `upper`: jobs made later than the one before this id are not meant. */
export type OperationWish = {
  tenant: string;
  kind: BulkAction;
  filter: Partial<JobsFilter>;
  upper?: string | undefined;
};

/** How many jobs an operation would change, and its `upper` end if it began now. Changes nothing. */
export async function previewOperation(
  deps: BulkDeps,
  { tenant, kind, filter, upper }: OperationWish,
): Promise<{ total: number; total_complete: boolean; upper: string }> {
  const { queue, status, ...others } = filter;
  // The kept counts know how many jobs a queue has; the walk only has to come to the first.
  const counted = Object.values(others).every((value) => value === undefined);
  const options = { dry_run: true, below: upper, ms_max: counted ? 0 : count_ms_max };
  const { matched, next, first } = await bulkJobs(deps, tenant, kind, filter, options);
  const found = { total: matched, total_complete: next === undefined, upper: upper ?? first ?? next ?? firstId };
  if (!counted || found.total_complete) return found;
  const counts = await countJobs(deps, tenant, { queue });
  const meant = jobStatuses.filter((one) => can[kind](one) && (status === undefined || status === one));
  return { ...found, total: meant.reduce((sum, one) => sum + counts[one], 0), total_complete: true };
}

/**
 * Start an operation on the jobs that match now, which the sweep of some process carries on with within a second or two
 * (see `carryOnOperations`). Undefined when the tenant has as many unfinished ones as it may.
 *
 * @example
 * const row = await createOperation(deps, { tenant: "default", kind: "cancel", filter: { queue: "mail" } }, made_by);
 */
export async function createOperation(
  deps: BulkDeps,
  wish: OperationWish,
  made_by: Actor,
): Promise<OperationRow | undefined> {
  const { upper, ...counted } = await previewOperation(deps, wish);
  return insertOperation(deps, { ...wish, ...counted, cursor: { upper }, until_us: 0, made_by });
}

export type ReplayWish = {
  tenant: string;
  filter: ReplayFilter;
  patch?: JsonObject | undefined;
  rate?: number | undefined;
  /** How large a patched payload may be; a job whose would be larger stays dead. Default 256 KiB. */
  payload_bytes_max?: number | undefined;
  /** Called with how many jobs there are, before anything is stored; rejects if a replay of so many may not be made. */
  admit?: ((jobs: number) => Promise<void>) | undefined;
};

/** What a replay would do: how many jobs, and what would become of the one that died first. Changes nothing. */
export async function previewReplay(deps: Deps, wish: ReplayWish): Promise<ReplayPreview> {
  const { tenant, filter, patch = null, payload_bytes_max = limits.payload_bytes_max } = wish;
  const { page, died_before } = byMillisecond(await deadByNow(deps, deadFilterOf(tenant, filter)));
  const { count, complete } = await countDead(deps, page, performance.now() + count_ms_max);
  const found =
    page && count > 0 ? await readPatched(executeOn(deps.database), page, { patch, payload_bytes_max }, 1) : undefined;
  return { matched: count, complete, ...(!filter.ids && { died_before }), sample: found?.jobs[0] ?? null };
}

/** Start a replay of the dead letters there are now: an operation like any other. */
export async function createReplay(deps: Deps, wish: ReplayWish, made_by: Actor): Promise<OperationRow | undefined> {
  const page = await deadByNow(deps, deadFilterOf(wish.tenant, wish.filter));
  const { count, complete } = await countDead(deps, page, performance.now() + count_ms_max);
  await wish.admit?.(count);
  const counted = { total: count, total_complete: complete, until_us: page?.until_us ?? 0 };
  const filter = { ...wish.filter, ...(await errorOf(deps, wish)) };
  return insertOperation(deps, { ...wish, filter, kind: "replay", ...counted, cursor: { start: true }, made_by });
}

/** What the fingerprint stands for: once its jobs are replayed, no dead letter tells. */
async function errorOf(deps: Deps, { tenant, filter }: ReplayWish): Promise<{ error?: string }> {
  if (filter.fingerprint === undefined) return {};
  const [job] = (await listDead(deps, tenant, filter, 1)).rows;
  return job ? { error: errorPattern(job.last_error ?? "") } : {};
}

type New = Pick<OperationRow, "kind" | "total" | "total_complete" | "until_us" | "cursor" | "made_by"> &
  Omit<ReplayWish, "admit">;

async function insertOperation(deps: Deps, made: New): Promise<OperationRow | undefined> {
  const { tenant, kind } = made;
  const row = { payload_bytes_max: limits.payload_bytes_max, ...made, id: newId() };
  const params = [JSON.stringify(row), tenant];
  const [created] = await executeOn(deps.database)<OperationRow>({ text: insert, params });
  if (created) deps.observe({ event: "operation_changed", change: "created", tenant, kind, operation_id: created.id });
  return created;
}

const given =
  "id, tenant, kind, filter, patch, payload_bytes_max, rate, total, total_complete, until_us, cursor, made_by";
const insert = composed(
  "operations/create",
  ["row", "tenant"],
  `
  INSERT INTO atlasqueue.operations (${given}, status, next_at, created_at, updated_at)
  SELECT ${given}, 'running', now(), now(), now() FROM json_populate_record(NULL::atlasqueue.operations, $1::text::json)
  WHERE (SELECT count(*) FROM atlasqueue.operations WHERE tenant = $2 AND status IN ('running', 'paused')) < ${limits.operations_max}
  RETURNING *`,
);
