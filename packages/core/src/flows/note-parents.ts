/**
 * A part of a WITH that asks, in the transaction that ended jobs or had them start anew, that their children learn of it.
 * `rows` is a part with the `id` and the `tenant` of each job, and whether it `has_children`.
 */
export const noteParents = (rows: string) => `noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM ${rows} WHERE has_children
    RETURNING key::uuid AS job_id
  )`;
