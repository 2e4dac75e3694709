import { composed } from "../database/composed.ts";
import type { OperationCursor, OperationRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import { inTransaction, stalledTxTimeout, idleTxTimeout } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { follow, type BulkDeps, type Changed } from "../jobs/bulk.ts";
import type { AtlasEvent } from "../observe/events.ts";
import { pageOfOperation, type OperationPage } from "./page.ts";
import { dueAt } from "./rows.ts";

/** How long an operation rests whose page failed, so that the others have their turn. */
const rest_after_failure_seconds = 10;
/** Times an operation goes over its jobs, as another transaction may hold some. One retried once may have failed again. */
const passesMax = ({ kind }: OperationRow) => (kind === "retry" ? 1 : 3);

/** Whose operation had the last page: the next is another tenant's, if one of theirs is due. */
export type OperationTurn = { tenant: string };
/** Called after the commit. */
export type OnChanged = (changed: Changed) => Promise<void>;

/**
 * Carries on with the operations of all tenants, page by page until none is due, or the page under way when stopped. The
 * tenants take turns, as `turn` remembers from one call to the next. Two processes at once do pages of different
 * operations. Rejects when a page fails; what was changed until then is followed up.
 * See decisions/2026-11-28-operations.md.
 *
 * @example
 * await carryOnOperations({ database, observe, followUps }, stop);
 */
export async function carryOnOperations(deps: BulkDeps, stop: AbortSignal, turn?: OperationTurn): Promise<void> {
  while (!stop.aborted && (await stepOperation(deps, (changed) => follow(deps, changed), turn)));
}

/**
 * One page of an operation that is due, of the tenant whose turn it is, in one transaction: its row is locked, unless
 * another process has it; the jobs are changed; how far it came is noted. So a page is done once, by any process, and a
 * process that dies in the middle leaves the operation where it was. False when none is due. When a page fails, its
 * operation rests for some seconds and this rejects: the next call is for another one.
 *
 * @example
 * while (await stepOperation(deps, (changed) => follow(deps, changed)));
 */
export async function stepOperation(
  deps: Deps,
  onChanged: OnChanged,
  turn: OperationTurn = { tenant: "" },
): Promise<boolean> {
  let row: OperationRow | undefined;
  const events: AtlasEvent[] = [];
  const work = inTransaction(deps.database, async (execute) => {
    [row] = await execute<OperationRow>({ text: take, params: [turn.tenant] });
    // Whatever becomes of the page.
    turn.tenant = row?.tenant ?? turn.tenant;
    if (!row) return undefined;
    const observe = (event: AtlasEvent) => void events.push(event);
    const within = { ...deps, database: { ...deps.database, within: execute }, observe };
    const page = await pageOfOperation(within, row);
    await noteProgress(within, row, page);
    return page.changed;
  });
  const changed = await work.catch(async (error: unknown) => {
    // The transaction is undone, and with it any note of its own.
    const resting =
      row && executeOn(deps.database)({ text: rest, params: [row.tenant, row.id, rest_after_failure_seconds] });
    // Where that fails too, the first error says more.
    await resting?.catch(() => {});
    throw error;
  });
  for (const event of events) deps.observe(event);
  if (changed) await onChanged(changed);
  return changed !== undefined;
}

async function noteProgress(within: Deps, row: OperationRow, { next, found, changed }: OperationPage): Promise<void> {
  const { id, tenant, kind, rate } = row;
  const done = changed.ids.length;
  const passed_over = row.passed_over + found - done;
  // At the end of a pass, once more for what was held by others; what cannot be helped is left.
  const again = next === undefined && passed_over > 0 && row.passes + 1 < passesMax(row);
  const over = next === undefined && !again;
  const seconds = rate === null ? 0 : done / rate;
  if (over) within.observe({ event: "operation_changed", change: "done", tenant, kind, operation_id: id });
  await executeOn(within.database)({
    text: note,
    params: [
      tenant,
      id,
      over ? "done" : "running",
      JSON.stringify(next ?? startOf(row.cursor)),
      done,
      next === undefined ? 0 : passed_over,
      over ? passed_over : 0,
      again ? 1 : 0,
      again ? Math.max(1, seconds) : seconds,
    ],
  });
}

const startOf = (cursor: OperationCursor): OperationCursor =>
  "upper" in cursor ? { upper: cursor.upper } : { start: true };

// A tenant may have twenty of them; within one, the one that is due first.
const take = composed(
  "operations/take",
  ["tenant_after"],
  `
  SELECT * FROM atlasqueue.operations WHERE status = 'running' AND ${dueAt} <= now() AND ${idleTxTimeout} AND ${stalledTxTimeout(10_000)}
  ORDER BY tenant <= $1, tenant, next_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
);

// At most a second is made up for, should the pages have been late.
const note = composed(
  "operations/note",
  ["tenant", "id", "status", "cursor", "done", "passed_over", "failed", "passes", "seconds"],
  `
  UPDATE atlasqueue.operations
  SET status = $3, cursor = $4::text::json, done = done + $5::int, passed_over = $6::int, failed = $7::int,
      passes = passes + $8::int, updated_at = now(), finished_at = CASE WHEN $3 = 'done' THEN now() END,
      next_at = greatest(${dueAt}, now() - interval '1 second') + make_interval(secs => $9::float8)
  WHERE tenant = $1 AND id = $2::uuid`,
);

const rest = `
  UPDATE atlasqueue.operations SET next_at = now() + make_interval(secs => $3::float8)
  WHERE tenant = $1 AND id = $2::uuid AND status = 'running'`;
