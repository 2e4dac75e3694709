/**
 * Since when the job that waits longest in a queue has been ready, as a sub-select. It steps from one priority in use to
 * the next: the index has the oldest job of each in front, and min(ready_at) would read the whole backlog.
 */
export const readySince = (tenant: string, queue: string) => {
  const front = (below: string) => `
        (SELECT priority, ready_at FROM atlasqueue.jobs
         WHERE jobs.tenant = ${tenant} AND jobs.queue = ${queue} AND ready_at IS NOT NULL${below}
         ORDER BY priority DESC, ready_at LIMIT 1)`;
  return `(
      WITH RECURSIVE fronts AS (${front("")}
        UNION ALL
        SELECT next.priority, next.ready_at FROM fronts, LATERAL ${front(" AND priority < fronts.priority")} AS next
      ) SELECT min(ready_at) FROM fronts)`;
};
