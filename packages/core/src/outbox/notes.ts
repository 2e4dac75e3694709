/**
 * Parts of a WITH RECURSIVE for a page of `notes`, a table and which of its rows, that have an index by tenant: `turns`, the
 * tenants that have some, each with its `share` of the page. One after the other is looked up in the index, past all notes
 * of the one before; of more tenants than the page has notes, each has the same chance of being in it.
 */
export const notesInTurn = (notes: `${string} WHERE ${string}`, notes_max: string) => `lines(tenant) AS (
    (SELECT tenant FROM ${notes} ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM ${notes} AND tenant > lines.tenant ORDER BY tenant LIMIT 1)
    FROM lines WHERE tenant IS NOT NULL
  ), turns AS MATERIALIZED (
    SELECT tenant, greatest(1, ${notes_max} / count(*) OVER ()) AS share FROM lines WHERE tenant IS NOT NULL
    ORDER BY random() LIMIT ${notes_max}
  )`;

/**
 * A part of a WITH that asks, in the transaction that ended jobs or had them start anew, that their children learn of it.
 * `rows` is a part with the `id` and the `tenant` of each job, and whether it `has_children`.
 */
export const noteParents = (rows: string) => `noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM ${rows} WHERE has_children
    RETURNING key::uuid AS job_id
  )`;
