import { composed } from "../../database/composed.ts";
import type { Unique } from "@atlasqueue/contract";
import { numberArray, textArray } from "../../database/literals.ts";
import type { JobRow } from "../../database/schema/index.ts";
import type { Execute } from "../../database/statement.ts";
import { countChanges } from "../../counts/changes.ts";
import { groupLane } from "../../groups/join.ts";
import { KeysContendedError } from "../../database/errors.ts";
import { draft, newRow } from "../drafts.ts";
import { isRelated, store, type EnqueueOptions } from "../enqueue.ts";
import { findKeyHolders, hasKey, settleConflicts } from "../find-key-holders.ts";
import type { EnqueueOutcome, Submission } from "../outcome.ts";
import {
  askedColumns,
  askedValues,
  input,
  inputParams,
  isGrouped,
  type Draft,
  inputParameters,
  foundDefaults,
  queueDefaults,
  type FoundDefaults,
} from "../insert-jobs.ts";
import { uniqueNameOf } from "../unique/plan.ts";

/**
 * (nothing) → blocked, with a row `admit` in the outbox: jobs that ask for what others may want too, in a transaction that
 * is not ours, or has several statements. It only inserts, and nothing that another transaction could wait for, as the
 * caller may keep it open as long as it likes. The drainer admits them after the commit (see `admit`). One statement for
 * all of them: from far away each takes its time. The rows are in the order of the drafts.
 *
 * @example
 * const [job] = await deferInsert(executeIn(tx), [draft(submission)], 86_400);
 */
export async function deferInsert(
  execute: Execute,
  drafts: readonly Draft[],
  key_ttl_seconds: number,
): Promise<readonly JobRow[]> {
  if (drafts.length === 0) return [];
  const uniqueOf = ({ request }: Draft): Unique | undefined => request.unique;
  const rest = [
    textArray(drafts.map(({ key }) => key)),
    textArray(drafts.map(({ hash }) => hash)),
    key_ttl_seconds,
    textArray(drafts.map((one) => uniqueOf(one) && uniqueNameOf(one).key)),
    textArray(drafts.map((one) => uniqueOf(one)?.on_conflict)),
    numberArray(drafts.map((one) => uniqueOf(one)?.window_seconds)),
  ];
  type Row = { id: string; created_at: Date | string; run_at: Date | string | null; defaults: FoundDefaults | null };
  const rows = await execute<Row>({ text, params: [...inputParams(drafts), ...rest] });
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  return drafts.map((one) => {
    const row = rowOf.get(one.id);
    if (!row) throw new Error("the insert gave no row");
    const run_at = new Map(row.run_at === null ? [] : [[one.id, new Date(row.run_at)]]);
    const { created_at, defaults } = row;
    return newRow(one, {
      created_at: new Date(created_at),
      run_at,
      blocked: new Set([one.id]),
      defaults: defaults ?? [],
    });
  });
}

const text = composed(
  "submit/defer-insert",
  [...inputParameters, "keys", "request_hashes", "key_ttl_seconds", "unique_keys", "on_conflicts", "window_seconds"],
  `
  WITH ${queueDefaults}, asked AS MATERIALIZED (SELECT * FROM ${input({ keyed: false })}), made AS (
    INSERT INTO atlasqueue.jobs (${askedColumns}, status, group_seq, group_key)
    SELECT ${askedValues}, 'blocked', 0, group_key FROM asked
    RETURNING tenant, queue
  ), ${countChanges("made", { blocked: "count(*)" })}, admissions AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key, lane, payload)
    SELECT 'admit', tenant, id::text,
           CASE WHEN group_key IS NOT NULL THEN ${groupLane("asked")}
                WHEN unique_key IS NOT NULL THEN 'unique ' || queue || E'\\n' || unique_key ELSE 'key ' || key END,
           jsonb_strip_nulls(jsonb_build_object(
             'idempotency_key', key, 'request_hash', CASE WHEN key IS NOT NULL THEN hash END,
             'key_ttl_seconds', CASE WHEN key IS NOT NULL THEN $17::float8 END,
             'unique_key', unique_key, 'on_conflict', on_conflict, 'window_seconds', window_seconds))
    FROM asked JOIN unnest($1::uuid[], $15::text[], $16::text[], $18::text[], $19::text[], $20::float8[]) WITH ORDINALITY
      AS wants(id, key, hash, unique_key, on_conflict, window_seconds, place) USING (id)
    ORDER BY place
  )
  SELECT id, now() AS created_at, CASE WHEN starts_at > now() THEN starts_at END AS run_at,
         ${foundDefaults} FROM asked`,
);

/**
 * Inside a transaction of several statements: what asks for more than an idempotency key only arrives. The keys must be
 * ones that no one else wants. No event is emitted, as it may yet be rolled back.
 */
export async function insertOrDefer(
  execute: Execute,
  submissions: readonly Submission[],
  options: EnqueueOptions,
): Promise<EnqueueOutcome[]> {
  const drafts = submissions.map(draft);
  const outcomes = new Map<Draft, EnqueueOutcome>();
  await store(
    execute,
    drafts.filter((one) => !asksMore(one)),
    outcomes,
    options,
  );
  const others = drafts.filter(asksMore);
  settleConflicts(others, (await findKeyHolders(execute, others.filter(hasKey), [])).keyed, outcomes);
  const open = others.filter((one) => !outcomes.has(one));
  const jobs = await deferInsert(execute, open, options.idempotency_ttl_seconds);
  for (const [at, one] of open.entries()) outcomes.set(one, { kind: "created", job: jobs[at] as JobRow });
  return drafts.map((one) => {
    const outcome = outcomes.get(one);
    if (!outcome) throw new KeysContendedError();
    return outcome;
  });
}

const asksMore = (one: Draft) => isRelated(one) || isGrouped(one);
