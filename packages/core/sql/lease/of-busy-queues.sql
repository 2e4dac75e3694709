-- $1 tenant
-- $2 queues
-- $3 holders
-- $4 ids
SELECT jobs.id, jobs.queue, jobs.priority
  FROM unnest($4::uuid[]) WITH ORDINALITY AS given(id, place) JOIN atlasqueue.jobs ON jobs.id = given.id
  JOIN unnest($2::text[], $3::text[]) AS wanted(queue, holder) ON wanted.queue = jobs.queue
  JOIN atlasqueue.queues ON queues.tenant = $1 AND queues.queue = wanted.queue AND queues.xmax::text <> wanted.holder
  WHERE jobs.tenant = $1 AND jobs.status = 'queued' AND jobs.queue NOT IN (SELECT json_array_elements_text(nullif(current_setting('atlasqueue.locked', true), '')::json))
  ORDER BY place;
