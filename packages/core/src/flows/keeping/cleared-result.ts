/**
 * What stands in the place of a result that was cleared: JSON's null, as a job that made none has no JSON at all. So
 * a caller that waited for the job can tell them apart, and everyone else reads null.
 */
export const clearedResult = "'null'::json";

/** Whether it stands there, of a row of `jobs`: found out without reading a result that is stored outside the row. */
export const isCleared =
  "CASE WHEN pg_column_size(result) > 8 THEN false ELSE coalesce(result::text = 'null', false) END";
