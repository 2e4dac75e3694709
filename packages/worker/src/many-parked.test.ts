import { eventually, steppingDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { noop, workerHarness } from "../test/harness.ts";

const harness = workerHarness();
const looks = 2;

test("ten thousand parked jobs cost an idle worker nothing: no statement more, and no row of theirs is read", async () => {
  const sent: string[] = [];
  const database = steppingDatabase(harness.deps().database, (kind, _number, text) => {
    if (kind === "statement") sent.push(text);
  });
  harness.work([noop], { pollTimeoutSeconds: 1 }, { database });
  /** What is sent while the sweep looks around some times. */
  const whileIdle = async (): Promise<string[]> => {
    const from = sent.length;
    const isLook = (text: string) => text.includes("any_queued");
    await eventually(() => sent.slice(from).filter(isLook).length >= looks);
    return sent.slice(from);
  };
  const readRows = async () => {
    await harness.sql()`SELECT pg_stat_force_next_flush()`;
    const [row] = await harness.sql()<{ rows: number }[]>`
      SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows FROM pg_stat_user_tables WHERE relname = 'jobs'`;
    return row?.rows ?? 0;
  };
  // What a worker does when it starts is among it.
  const before = await whileIdle();
  await harness.sql()`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, due_at, created_at, updated_at, payload, waits_for, has_steps)
    SELECT gen_random_uuid(), 'noop', 'scheduled', now() + interval '1 h', now() + interval '1 h', now(), now(), '{}', 'go', true
    FROM generate_series(1, 10000)`;
  await harness.sql()`INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, at, until)
    SELECT tenant, id, 'wait', 'go', now(), run_at FROM atlasqueue.jobs`;
  await whileIdle();
  const read = await readRows();
  const after = await whileIdle();
  expect(after.length, "statements").toBeLessThanOrEqual(before.length + looks);
  expect(
    after.filter((text) => !before.includes(text)),
    "statements of another kind",
  ).toEqual([]);
  expect((await readRows()) - read, "rows of jobs").toBeLessThan(100);
});
