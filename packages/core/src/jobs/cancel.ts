import { composed } from "../database/composed.ts";
import { isFinal, jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { hidden, textArray, uuidArray } from "../database/literals.ts";
import { lockTimeout } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import { inTransaction } from "../database/transaction.ts";
import type { JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { noteParents } from "../outbox/notes.ts";
import { advanceIn, endInGroups, readyOf } from "../groups/advance.ts";
import { groupIsFree } from "../groups/join.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { transition } from "../tracing/send.ts";

export type CancelOutcome =
  /** `ready` are the next jobs of its group, to be signalled. */
  | { kind: "cancelled"; job: JobRow; ready: readonly ReadyJob[] }
  /** Its status may not be cancelled, so it stays as it is. */
  | { kind: "not_cancellable"; job: JobRow }
  | { kind: "unknown" };

/** What follows a cancellation needs to know this of the job. */
export type CancelledJob = Pick<JobRow, "id" | "type" | "tenant" | "queue" | "group_key" | "has_children">;

const notFinal = jobStatuses.filter((status) => !isFinal(status));

/**
 * Any status that is not final → cancelled, or any of `from`, which contains no final one. A running job's lease ends
 * with it: its worker's next heartbeat and settlement are refused, and the attempt goes to the history. Then the next
 * of its group may go. Throws after 200 ms (`isLocked`) while another transaction has the job or its group locked.
 *
 * @example
 * const outcome = await cancel(deps, "default", id);
 * const stillWaiting = await cancel(deps, "default", id, ["scheduled", "queued"]);
 */
export async function cancel(
  deps: Deps,
  tenant: string,
  id: string,
  from: readonly JobStatus[] = notFinal,
): Promise<CancelOutcome> {
  const { row, ready } = await transition(deps, "cancel", {}, () => cancelWith(deps, tenant, id, from));
  if (!row) return { kind: "unknown" };
  const { was, has_turn: _, ...job } = row;
  if (job.status !== "cancelled" || !from.includes(was)) return { kind: "not_cancellable", job };
  tell(deps, row);
  return { kind: "cancelled", job, ready };
}

/**
 * The same for many at once. Locked ones stay as they are, and those in another status; with `expired`, so do those that
 * have not expired. `ready` are the next jobs of their groups, to be signalled.
 */
export async function cancelMany(
  deps: Deps,
  tenant: string,
  ids: readonly string[],
  from: readonly JobStatus[] = notFinal,
  { expired = false }: { expired?: boolean } = {},
): Promise<{ cancelled: readonly CancelledJob[]; ready: readonly ReadyJob[] }> {
  const statement = (of: readonly string[], with_turn: boolean) => ({
    text: many,
    params: [uuidArray(of), tenant, textArray(from), String(with_turn), String(expired)],
  });
  const { cancelled, through } = await transition(deps, "cancel", { count: ids.length }, async () => {
    const rows = await executeOn(deps.database)<CancelledJob & Was>(statement(ids, false));
    const turns = rows.flatMap(({ id, has_turn }) => (has_turn ? [id] : []));
    const free = rows.filter(({ has_turn }) => !has_turn);
    if (turns.length === 0) return { cancelled: free, through: [] };
    return inTransaction(deps.database, async (execute) => {
      const all = await execute<CancelledJob & Was>(statement(turns, true));
      const ended = all.filter(({ has_turn }) => !has_turn);
      return { cancelled: [...free, ...ended], through: await advanceIn(execute, ended) };
    });
  });
  for (const job of cancelled) tell(deps, job);
  return { cancelled, ready: readyOf(deps, through) };
}

function tell({ observe }: Deps, { id, type, queue, tenant, was }: CancelledJob & Was): void {
  observe({ event: "job_cancelled", job_id: id, job_type: type, queue, tenant, was });
}

type Was = { was: JobStatus; has_turn: boolean };

/** One statement, unless it has the turn of its group: then the next of the group goes in the same transaction. */
async function cancelWith(deps: Deps, tenant: string, id: string, from: readonly JobStatus[]) {
  const statement = (with_turn: boolean) => ({ text, params: [id, tenant, textArray(from), String(with_turn)] });
  const [row] = await executeOn(deps.database)<JobRow & Was>(statement(false));
  if (!row?.has_turn) return { row, ready: [] };
  const { answer, through } = await endInGroups<JobRow & Was>(deps, statement(true), [row]);
  return { row: answer, ready: through };
}

// The rows are locked first, so that the old status is the one the UPDATE found.
const cancelling = (which: string, with_turn = "$4::text::bool", reason = "last_error") => `
  WITH found AS MATERIALIZED (
    SELECT *, group_key IS NOT NULL AND status <> 'blocked' AND status = ANY($3::text[]) AS has_turn
    FROM atlasqueue.jobs WHERE ${which}
  ), open AS MATERIALIZED (
    SELECT * FROM found WHERE status = ANY($3::text[]) AND (NOT has_turn OR ${with_turn})
  ), cancelled AS (
    UPDATE atlasqueue.jobs SET status = 'cancelled', ready_at = NULL, due_at = NULL, expires_at = NULL, last_error = ${reason}, finished_at = now(), updated_at = now(),
                    locked_until = NULL, lease_token = NULL, group_seq = NULL, active_group_key = NULL, waits_for = NULL
    WHERE id = ANY(ARRAY(SELECT id FROM open))
    RETURNING *
  ), history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome)
    SELECT tenant, id, attempts, worker_id, started_at, now(), 'cancelled' FROM open WHERE status = 'running'
  ), moved AS (
    SELECT tenant, queue, status AS from_status, 'cancelled' AS to_status FROM open
  ), ${countMixedMoves("moved")}, ${noteParents("open")}`;

const parameters = ["ids", "tenant", "from_statuses", "with_turn"];
// A job that may not be cancelled is returned as it is.
const text = composed(
  "jobs/cancel",
  parameters,
  `${cancelling(`id = $1::uuid AND tenant = $2 AND ${lockTimeout} FOR UPDATE`)}
  SELECT cancelled.*, false AS has_turn, open.status AS was FROM cancelled JOIN open ON open.id = cancelled.id
  UNION ALL
  SELECT found.*, found.status AS was FROM found WHERE id NOT IN (SELECT id FROM open)`,
);
// A job whose group another transaction has locked keeps its turn, as a locked job stays as it is.
const many = composed(
  "jobs/cancel-many",
  [...parameters, "expired"],
  `${cancelling(
    `id = ANY(${hidden("$1::uuid[]")}) AND tenant = $2 AND (NOT $5::text::bool OR (expires_at <= now() AND attempts = 0)) FOR UPDATE SKIP LOCKED`,
    `$4::text::bool AND ${groupIsFree("found")}`,
    "CASE WHEN $5::text::bool THEN 'expired' ELSE last_error END",
  )}
  SELECT id, type, tenant, queue, group_key, has_children, status AS was, false AS has_turn FROM open
  UNION ALL
  SELECT id, type, tenant, queue, group_key, has_children, status, true FROM found
  WHERE has_turn AND id NOT IN (SELECT id FROM open)`,
);
