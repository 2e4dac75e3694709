import { testDatabase } from "@atlasqueue/testing";
import { expect, onTestFinished, test } from "vitest";
import { pagesRead } from "../../test/rows-read.ts";
import { workLeft } from "./work-left.ts";

test("whether there is work left takes a handful of pages, however long the history and the backlogs of others", async () => {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  const { sql } = own.database;
  await sql`
    INSERT INTO jobs (id, type, status, run_at, created_at, updated_at, finished_at, payload)
    SELECT gen_random_uuid(), 'a', 'succeeded', now(), now(), now(), now(), '{}' FROM generate_series(1, 20000)`;
  await sql`
    INSERT INTO jobs (id, queue, type, status, run_at, ready_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'backlog', 'a', 'queued', now(), now(), now(), now(), '{}' FROM generate_series(1, 20000)`;
  await sql`
    INSERT INTO jobs (id, queue, type, status, run_at, due_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'delayed', 'a', 'scheduled', now(), now(), now(), now(), '{}' FROM generate_series(1, 20000)`;
  await sql`
    INSERT INTO jobs (id, tenant, type, status, run_at, due_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'other', 'a', 'scheduled', now(), now() - interval '1 hour', now(), now(), '{}'
    FROM generate_series(1, 20000)`;
  await sql`VACUUM ANALYZE jobs`;
  const left: boolean[] = [];
  const look = (queue: string) => (deps: Parameters<typeof workLeft>[0]) =>
    workLeft(deps, { tenant: "default", queues: [queue], worker_id: "w", due_within_seconds: 60 }).then((any) =>
      left.push(any),
    );
  for (const queue of ["backlog", "delayed", "default", "empty"])
    expect(await pagesRead(own.database, look(queue)), queue).toBeLessThan(100);
  expect(left).toEqual([true, true, false, false]);
});
