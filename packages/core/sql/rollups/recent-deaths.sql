-- $1 tenant
SELECT coalesce(sum(dead) FILTER (WHERE at > now() - interval '15 minutes'), 0)::float8 AS lately,
         coalesce(sum(dead) FILTER (WHERE NOT (at > now() - interval '15 minutes')), 0)::float8 AS before,
         min(at) FILTER (WHERE at > now() - interval '15 minutes' AND dead > 0) AS since
  FROM atlasqueue.rollups WHERE tenant = $1 AND queue = '' AND type = '' AND at > now() - interval '1 day 15 minutes';
