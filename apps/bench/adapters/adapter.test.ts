// @module-tag slow
import { fileURLToPath } from "node:url";
import { createDatabase, eventually, postgresUrl, redisUrl, spawnProcess } from "@atlasqueue/harness";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import manifest from "./adapter.json" with { type: "json" };

const program = fileURLToPath(new URL("main.ts", import.meta.url));
const inAll = ["claim_p50_ms", "claim_p95_ms", "claim_p99_ms", "completion_rate", "enqueue_rate"];
const ofTheFirst = ["producer_target_rate", "queue_depth"];
const windows: Record<string, number> = {
  enqueue_rate: 1,
  completion_rate: 1,
  queue_depth: 0,
  producer_target_rate: 0,
};

async function start(env: Record<string, string>) {
  const { url, drop } = await createDatabase(postgresUrl());
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  onTestFinished(async () => {
    await sql.end();
    await drop();
  });
  const settings = { DATABASE_URL: url, REDIS_URL: redisUrl(), SAMPLE_EVERY_S: "1", WORKER_COUNT: "8", ...env };
  const adapter = await spawnProcess(program, { env: settings });
  const samples = () => adapter.logs.filter(({ kind }) => kind === "adapter");
  const sum = (metric: string) =>
    samples().reduce((all, sample) => all + (sample["metric"] === metric ? Number(sample["value"]) : 0), 0);
  return { sql, adapter, samples, sum };
}

test.each([
  ["at a fixed rate", "0", [...inAll, ...ofTheFirst], { PRODUCER_MODE: "fixed", PRODUCER_RATE: "200" }],
  ["to a depth, as the second replica", "1", inAll, { PRODUCER_MODE: "depth-target", TARGET_DEPTH: "50" }],
])("the adapter speaks the suite's protocol %s", async (_name, instance, metrics, mode) => {
  const { sql, adapter, samples, sum } = await start({ ...mode, BENCH_INSTANCE_ID: instance });
  await eventually(() => expect(sum("completion_rate")).toBeGreaterThan(100));
  adapter.kill();
  const asked_at = performance.now();
  expect(await adapter.waitForExit()).toEqual({ code: 0, signal: null });
  expect(performance.now() - asked_at).toBeLessThan(5_000);

  // Every line is a record, and the first describes tables and indexes that exist.
  const [descriptor, ...records] = adapter.logs;
  expect(adapter.lines).toHaveLength(adapter.logs.length);
  expect(descriptor).toMatchObject({ ...manifest, kind: "descriptor", started_at: expect.any(String) });
  const names = [...manifest.event_tables, ...manifest.event_indexes];
  expect([...(await sql`SELECT name FROM unnest(${names}::text[]) name WHERE to_regclass(name) IS NULL`)]).toEqual([]);

  expect(records).toEqual(samples());
  expect([...new Set(records.map(({ metric }) => metric))].toSorted()).toEqual(metrics);
  for (const { t, value, window_s, metric, ...rest } of records) {
    expect(new Date(String(t)).toISOString()).toBe(t);
    expect(value).toBeGreaterThanOrEqual(0);
    expect(window_s).toBe(windows[String(metric)] ?? 30);
    const of = { system: "atlasqueue", instance_id: Number(instance) };
    expect(rest).toEqual({ ...of, kind: "adapter", subject_kind: "adapter", subject: "" });
  }

  // What it reports as done is done in the database.
  const [row] = await sql<{ submitted: number; succeeded: number }[]>`
    SELECT count(*)::int AS submitted, count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded
    FROM atlasqueue.jobs`;
  expect(row?.succeeded).toBeGreaterThanOrEqual(sum("completion_rate"));
  expect(row?.submitted).toBeGreaterThanOrEqual(sum("enqueue_rate"));
});

test("a wrong setting ends it with a line that names it", async () => {
  const { adapter } = await start({ WORKER_COUNT: "none" });
  await adapter.waitForLine('WORKER_COUNT is "none": Invalid input: expected number');
  expect(await adapter.waitForExit()).toEqual({ code: 1, signal: null });
});
