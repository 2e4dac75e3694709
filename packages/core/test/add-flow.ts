import { submitJob, type OnParentFailure, type SubmitJobInput } from "@atlasqueue/contract";
import { uuidArray } from "../src/database/literals.ts";
import type { Deps } from "../src/deps.ts";
import { newId } from "../src/ids.ts";
import { enqueue } from "../src/submit/enqueue.ts";

/** A job of a flow; `after` are the refs of those it waits for, or the ids of jobs that were there before. */
export type Member = Partial<SubmitJobInput> & { after?: string[]; on_parent_failure?: OnParentFailure };

/**
 * Store a flow as a submission does: a job without parents is ready or delayed, one with parents is blocked. Returns their
 * ids by ref.
 *
 * @example
 * const { sum } = await addFlow(deps, { a: {}, b: {}, sum: { after: ["a", "b"] } });
 */
export async function addFlow<Ref extends string>(
  deps: Deps,
  members: Readonly<Record<Ref, Member>>,
  tenant = "default",
): Promise<Record<Ref, string>> {
  const { sql } = deps.database;
  const flow_id = newId();
  const all = Object.entries<Member>(members);
  const roots = all.filter(([, { after }]) => !after);
  const parse = ({ after: _after, on_parent_failure: _policy, ...request }: Member) =>
    submitJob.parse({ type: "noop", ...request });
  const outcomes = await enqueue(
    deps,
    roots.map(([, member]) => ({ tenant, request: parse(member) })),
    { idempotency_ttl_seconds: 60 },
  );
  const ids: Record<string, string> = {};
  for (const [at, [ref]] of roots.entries()) {
    const outcome = outcomes[at];
    ids[ref] = outcome && "job" in outcome ? outcome.job.id : "";
  }
  for (const [ref, { after }] of all) if (after) ids[ref] = newId();
  const children = all.flatMap(([ref, member]) => (member.after ? [{ ...parse(member), ref, id: ids[ref] }] : []));
  const places = all.map(([ref, { after = [], on_parent_failure = "cancel" }], place) => ({
    id: ids[ref],
    ref,
    place,
    on_parent_failure,
    parents: after.map((of) => ({ ref: of, id: ids[of] ?? of })),
  }));
  const from = (rows: unknown) => JSON.stringify(rows);
  await sql.begin(async (tx) => {
    await tx`UPDATE atlasqueue.jobs SET flow_id = ${flow_id} WHERE id = ANY(${uuidArray(Object.values(ids))}::uuid[])`;
    await tx`
      INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, priority, max_attempts, run_at, created_at, updated_at, group_seq,
                        group_key, payload, flow_id)
      SELECT id, ${tenant}, queue, type, 'blocked', priority, coalesce(max_attempts, 5),
             now() + make_interval(secs => coalesce(delay_seconds, 0)), now(), now(), 0, "group", payload, ${flow_id}
      FROM json_to_recordset(${from(children)}::text::json) AS child(
        id uuid, queue text, type text, priority smallint, max_attempts smallint, delay_seconds float8, "group" text, payload json)`;
    await tx`
      INSERT INTO atlasqueue.queue_changes (tenant, queue, blocked)
      SELECT tenant, queue, count(*) FROM atlasqueue.jobs WHERE id = ANY(${uuidArray(children.map(({ id }) => String(id)))}::uuid[])
      GROUP BY tenant, queue`;
    await tx`
      INSERT INTO atlasqueue.flow_jobs (tenant, job_id, flow_id, place, ref, on_parent_failure, parents)
      SELECT ${tenant}, id, ${flow_id}, place, ref, on_parent_failure, parents FROM json_to_recordset(${from(places)}::text::json)
        AS member(id uuid, place int, ref text, on_parent_failure text, parents json)`;
    await tx`
      INSERT INTO atlasqueue.flow_edges (tenant, parent, child, on_parent_failure)
      SELECT tenant, (parent ->> 'id')::uuid, job_id, on_parent_failure
      FROM atlasqueue.flow_jobs, json_array_elements(parents) AS parent WHERE flow_id = ${flow_id}`;
    const parents = await tx<{ id: string }[]>`
      UPDATE atlasqueue.jobs SET has_children = true
      WHERE id IN (SELECT parent FROM atlasqueue.flow_edges JOIN atlasqueue.flow_jobs ON job_id = child WHERE flow_jobs.flow_id = ${flow_id})
      RETURNING id`;
    // Those that were there before may have ended.
    const known = new Set(Object.values(ids));
    for (const { id } of parents)
      if (!known.has(id))
        await tx`INSERT INTO atlasqueue.outbox (kind, tenant, key) VALUES ('parent_ended', ${tenant}, ${id})`;
  });
  return ids as Record<Ref, string>;
}
