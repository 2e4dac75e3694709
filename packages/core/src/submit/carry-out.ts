import { composed } from "../database/composed.ts";
import type { Execute } from "../database/statement.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { flowColumns, hasParents, parentsLocked, storeFlows } from "../flows/store-flow.ts";
import { noteParents } from "../flows/note-parents.ts";
import { joinGroups, seatMembers } from "../groups/join.ts";
import { refuseIf } from "../database/refuse.ts";
import { impatient } from "../database/skip-locked.ts";
import { asked, isPostponed, paramsOf, parametersOf, type Mode, type Step } from "./steps.ts";
import { lockHolders, replaceHolders } from "./unique/replace.ts";

export type CarriedOut = {
  created_at: Date;
  made: ReadonlyMap<string, MadeJob>;
  replaced: ReadonlyMap<string, ReplacedJob>;
};
type MadeJob = { id: string; status: "queued" | "scheduled" | "blocked"; run_at: Date };
type ReplacedJob = MadeJob & { was: string; ready_at: Date | null; due_at: Date | null; updated_at: Date };

/**
 * Carry out what a look at the keys decided, in one statement that checks whether what was seen still holds: so no lock
 * outlives it, and a process that stops between look and statement holds nothing. `insert` stores new jobs, with which of
 * them wait for one another; `admit` is for pending ones, whose rows are locked. It is all or nothing: it throws when
 * something was taken meanwhile (see `isTakenMeanwhile`), or another transaction keeps what it needs locked (see `isLocked`).
 * When that is a group's row, send it again with `postponed`: then the jobs of groups get their places after the commit.
 *
 * The lock order is the same in all statements that take jobs in: jobs that have unique keys, which no one waits for; then
 * idempotency keys, groups and new unique keys, each sorted.
 */
export async function carryOut(
  execute: Execute,
  steps: readonly Step[],
  mode: Mode,
  { postponed = false }: { postponed?: boolean | undefined } = {},
): Promise<CarriedOut> {
  const [row] = await execute<Row>({ text: texts[mode], params: paramsOf(steps, mode, postponed) });
  if (!row) throw new Error("the statement gave no row");
  const times = <T extends { run_at: string }>(one: T) => ({ ...one, run_at: new Date(one.run_at) });
  const date = (time: string | null) => (time === null ? null : new Date(time));
  return {
    created_at: new Date(row.created_at),
    made: new Map((row.made ?? []).map((one) => [one.id, times(one)])),
    replaced: new Map(
      (row.replaced ?? []).map((one) => [
        one.id,
        { ...times(one), ready_at: date(one.ready_at), due_at: date(one.due_at), updated_at: new Date(one.updated_at) },
      ]),
    ),
  };
}

type InText<T> = { [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K] };
type Row = {
  created_at: Date | string;
  made: InText<MadeJob>[] | null;
  replaced: InText<ReplacedJob>[] | null;
};

// A job that had a unique key is locked in the version that was seen: so no key is taken from a job that was about to start
// and now is not. Keys that no job had are taken as the jobs are inserted: the index refuses all of them when another job has
// one by then.
const keys = (mode: Mode) => `
  ours AS MATERIALIZED (
    SELECT * FROM asked WHERE ${impatient}
  ), ${lockHolders("ours")}, able AS MATERIALIZED (
    SELECT * FROM ours WHERE seen IS NULL OR seen IN (SELECT id FROM holders)
  ), new_keys AS (
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at, is_alias)
    SELECT tenant, key, decode(hash, 'hex'), names, now() + make_interval(secs => ttl), CASE WHEN role <> 'make' THEN true END
    FROM able WHERE key IS NOT NULL ORDER BY tenant COLLATE "C", key COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING tenant, key
  ), clear AS MATERIALIZED (
    SELECT * FROM able WHERE key IS NULL OR (tenant, key) IN (SELECT tenant, key FROM new_keys)
  ), makes AS MATERIALIZED (
    SELECT * FROM clear WHERE role = 'make'
  ), ${mode === "admit" ? seatMembers(members) : joinGroups(`${members} AND NOT ${hasParents}`, isPostponed)}`;
const members = "SELECT id, tenant, queue, group_key, place FROM makes WHERE group_key IS NOT NULL";

const uniqueUntil = "now() + make_interval(secs => window_seconds)";
/** The jobs whose unique keys new ones take, and a condition that is true once they have given them. */
const giving = "SELECT seen FROM makes WHERE seen IS NOT NULL";
const keysAreFree = "(SELECT count(*) FROM earlier_jobs) >= 0";
const keptUntil = "CASE WHEN key IS NOT NULL THEN now() + make_interval(secs => ttl) END";

const groupedColumns = `
    CASE WHEN NOT may_run THEN 'blocked' WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END AS status,
    CASE WHEN may_run IS FALSE OR starts_at > now() THEN NULL ELSE starts_at END AS ready_at,
    CASE WHEN may_run IS NOT FALSE AND starts_at > now() THEN starts_at END AS due_at,
    group_key, CASE WHEN NOT may_run THEN seq END AS group_seq, CASE WHEN may_run AND is_strict THEN group_key END AS active_group_key`;

const made = {
  insert: `${storeFlows(giving)}, made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, run_at, created_at, updated_at,
                      payload, traceparent, tracestate, kept_until, status, ready_at, due_at, group_key, group_seq, active_group_key, unique_key, unique_until${flowColumns[0]})
    SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, nullif(backoff::text, 'null')::json, starts_at, now(), now(),
           payload, traceparent, tracestate, ${keptUntil}, ${groupedColumns}, unique_key, ${uniqueUntil}${flowColumns[1]}
    FROM makes LEFT JOIN seats USING (id) WHERE ${keysAreFree} ORDER BY tenant COLLATE "C", queue COLLATE "C", unique_key COLLATE "C", place
    RETURNING id, tenant, queue, run_at, status
  )`,
  admit: `
  earlier_jobs AS (
    UPDATE atlasqueue.jobs SET unique_key = NULL, unique_until = NULL WHERE id = ANY(ARRAY(${giving})) RETURNING id
  ), seats AS MATERIALIZED (
    SELECT id, ${keptUntil} AS kept, unique_key, ${uniqueUntil} AS unique_until, ${groupedColumns}
    FROM makes LEFT JOIN seats_taken USING (id)
  ), made AS (
    UPDATE atlasqueue.jobs SET status = seats.status, ready_at = seats.ready_at, due_at = seats.due_at, group_seq = seats.group_seq,
                    active_group_key = seats.active_group_key, kept_until = coalesce(seats.kept, kept_until),
                    unique_key = coalesce(seats.unique_key, jobs.unique_key),
                    unique_until = coalesce(seats.unique_until, jobs.unique_until), updated_at = now()
    FROM seats WHERE ${keysAreFree} AND jobs.id = seats.id AND jobs.id = ANY(ARRAY(SELECT id FROM seats))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.run_at, jobs.status
  ), ended AS (
    UPDATE atlasqueue.jobs SET status = 'cancelled', group_seq = NULL, finished_at = now(), updated_at = now(), last_error = clear.reason
    FROM clear WHERE clear.role = 'join' AND jobs.id = clear.id AND jobs.id = ANY(ARRAY(SELECT id FROM clear WHERE role = 'join'))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.has_children
  ), ${noteParents("ended")}`,
};

const moved = {
  insert: "SELECT tenant, queue, NULL AS from_status, status AS to_status FROM made",
  admit: `
    SELECT tenant, queue, 'blocked' AS from_status, status AS to_status FROM made
    UNION ALL SELECT tenant, queue, 'blocked', 'cancelled' FROM ended`,
};

const build = (mode: Mode) => `
  WITH ${asked(mode)}, ${keys(mode)}, ${made[mode]}, contents AS MATERIALIZED (
    SELECT * FROM clear WHERE writes
  ), ${replaceHolders("contents")}, moved AS (
    ${moved[mode]}
    UNION ALL SELECT tenant, queue, was, status FROM replaced
  ), ${countMixedMoves("moved")}
  SELECT now() AS created_at, (SELECT json_agg(json_build_object('id', id, 'status', status, 'run_at', run_at)) FROM made) AS made,
         (SELECT json_agg(json_build_object('id', id, 'was', was, 'status', status, 'run_at', run_at, 'ready_at', ready_at,
                                            'due_at', due_at, 'updated_at', updated_at)) FROM replaced) AS replaced,
         ${refuseIf(`(SELECT count(*) FROM asked) <> (SELECT count(*) FROM clear)${mode === "insert" ? ` OR ${parentsLocked}` : ""}`)}`;

const texts = {
  insert: composed("submit/insert-related", parametersOf("insert"), build("insert")),
  admit: composed("submit/admit", parametersOf("admit"), build("admit")),
};
