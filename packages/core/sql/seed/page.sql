-- $1 tenant
-- $2 after
-- $3 rows_max
-- $4 named
-- $5 minutes_max
SELECT id, CASE WHEN queue = ANY($4::text[]) THEN queue ELSE 'customers' END AS queue, type, status, attempts,
         extract(epoch FROM now() - created_at)::float8 / 60 AS made_minutes_ago,
         CASE WHEN status IN ('succeeded', 'dead', 'failed') THEN extract(epoch FROM now() - updated_at)::float8 / 60 END AS ended_minutes_ago,
         CASE WHEN status <> 'failed' THEN least(extract(epoch FROM started_at - run_at), 30)::float8 * 1000 END AS waited_ms,
         extract(epoch FROM finished_at - started_at)::float8 * 1000 AS ran_ms
  FROM atlasqueue.jobs
  WHERE tenant = $1 AND id > $2::text::uuid AND created_at > now() - make_interval(mins => $5::int)
  ORDER BY id LIMIT $3::int;
