/** What belongs to jobs: rows of a `table`, those with the jobs' ids in its `column`. */
export type Belonging = {
  table: string;
  column: string;
  /** The part of the WITH that has the ids. */
  of: string;
  /** A further condition on the rows. */
  when?: string;
};

const partOf = ({ table }: Belonging) => `${table}_taken`;

const taken = (one: Belonging) => `${partOf(one)} AS MATERIALIZED (
    SELECT ${one.column} AS owner, locked.place FROM ${one.table}
    LEFT JOIN LATERAL (
      SELECT own.ctid AS place FROM ${one.table} AS own WHERE own.ctid = ${one.table}.ctid FOR UPDATE SKIP LOCKED) AS locked ON true
    WHERE ${one.column} = ANY(ARRAY(SELECT id FROM ${one.of}))${one.when === undefined ? "" : ` AND ${one.when}`}
  )`;

/**
 * Parts of a WITH that lock what belongs to jobs, each row unless that would have to wait, or it has just changed: a
 * stranger's lock on one of them must not stop the page its job is in. `held` then has the ids, as `owner`, of the jobs
 * of which a row could not be had: they are left for the next look.
 */
export const takeOwn = (all: readonly Belonging[]) => `${all.map(taken).join(", ")}, held AS MATERIALIZED (
    ${all.map((one) => `SELECT owner FROM ${partOf(one)} WHERE place IS NULL`).join(" UNION ALL ")}
  )`;

/** A condition on a table: those of its rows that were taken, of jobs of which all could be had. */
export const isTaken = (one: Belonging) =>
  `ctid = ANY(ARRAY(SELECT place FROM ${partOf(one)} WHERE owner NOT IN (SELECT owner FROM held)))`;
