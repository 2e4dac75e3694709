SELECT count(pg_logical_emit_message(true, 'atlasqueue', 'beat'))::int AS beats
  FROM (SELECT FROM atlasqueue.claims LIMIT 1) AS any_claim;
