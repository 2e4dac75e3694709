-- $1 tenants
WITH sample AS MATERIALIZED (
    SELECT tenant, count(*) AS sampled,
           avg(300 + pg_column_size(payload) + coalesce(pg_column_size(result), 0) + coalesce(pg_column_size(last_error), 0)) AS mean
    FROM atlasqueue.jobs TABLESAMPLE SYSTEM ((SELECT least(100, 100.0 * 300 * current_setting('block_size')::int / greatest(1, pg_relation_size('atlasqueue.jobs')))))
    GROUP BY tenant
  ), kept AS MATERIALIZED (
    SELECT tenant, sum(150 + pg_column_size(value)) * 100 / (SELECT least(100, 100.0 * 100 * current_setting('block_size')::int / greatest(1, pg_relation_size('atlasqueue.job_state')))) AS bytes
    FROM atlasqueue.job_state TABLESAMPLE SYSTEM ((SELECT least(100, 100.0 * 100 * current_setting('block_size')::int / greatest(1, pg_relation_size('atlasqueue.job_state'))))) WHERE kind <> 'wait' GROUP BY tenant
  ), known AS (
    SELECT tenant, sum(scheduled + blocked + queued + running + failed + succeeded + dead + cancelled) AS jobs FROM (
      SELECT tenant, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_counts WHERE tenant = ANY($1::text[]) UNION ALL SELECT tenant, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_changes WHERE tenant = ANY($1::text[])) AS known
    GROUP BY tenant
  )
  SELECT asked.tenant, coalesce(known.jobs, 0)::float8 AS jobs, coalesce(sampled, 0)::int AS sampled, mean::float8 AS mean_bytes,
         coalesce(kept.bytes, 0)::float8 AS kept_bytes
  FROM unnest($1::text[]) AS asked(tenant) LEFT JOIN known USING (tenant) LEFT JOIN sample USING (tenant) LEFT JOIN kept USING (tenant);
