/** A place in the order of a queue's ready jobs. The time as Postgres writes it: JavaScript's would lose microseconds. */
export type Place = { id: string; priority: number; ready: string };

/** Before any job. */
export const firstPlace: Place = { id: "00000000-0000-0000-0000-000000000000", priority: 32_767, ready: "-infinity" };

/** The columns of a job's place, of a query over rows of `jobs`. */
export const placeColumns = `id, priority, to_char(ready_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ready`;

/**
 * The next ready jobs of the queue $2 of tenant $1, after the place that $3 (priority), $4 (ready) and $5 (id) say. Two
 * ranges, as priorities go down where times go up: one condition for both would read all that is in front.
 */
export const readyAfterPlace = (columns: string, jobs_max: number) => {
  const range = (bounds: string) => `
      (SELECT ${columns} FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2 AND ${bounds}
       ORDER BY priority DESC, ready_at, id LIMIT ${jobs_max})`;
  return `
    SELECT * FROM (${range("priority = $3::int AND (ready_at, id) > ($4::text::timestamptz, $5::uuid)")}
      UNION ALL${range("priority < $3::int")}) AS ranges
    ORDER BY priority DESC, ready_at, id LIMIT ${jobs_max}`;
};
