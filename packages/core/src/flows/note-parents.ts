/**
 * A part of a WITH that notes, in the transaction that ended jobs or had them start anew, that their children must hear
 * of it. `rows` is a part with the `id` and the `tenant` of each job, and whether it `has_children`.
 */
export const noteParents = (rows: string) => `noted_parents AS (
    INSERT INTO flow_notes (job_id, role, tenant) SELECT id, 'parent', tenant FROM ${rows} WHERE has_children RETURNING job_id
  )`;
