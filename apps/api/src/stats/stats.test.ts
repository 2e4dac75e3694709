import { overview, statsSeries, throughput } from "@atlasqueue/contract";
import { noSignal } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);

const worker = (queues: string[]) => ({
  tenant: "default",
  id: "w-1",
  host: "box",
  pid: 1,
  queues,
  handlers: ["a"],
  concurrency: 10,
  active: 4,
  state: "running" as const,
  lease_seconds: 30,
});

test("a series is the last hour unless a window is asked for", async () => {
  const last = statsSeries.parse(await (await api.get("/v1/stats/series")).json());
  expect([last.window, last.items.length]).toEqual(["1h", 60]);
  const day = statsSeries.parse(await (await api.get("/v1/stats/series?window=24h&queue=mails&type=mail.send")).json());
  expect([day.window, day.items.length, day.step_seconds]).toEqual(["24h", 96, 900]);
});

test("a throughput has the last hour of each queue asked for, in their order, and zeros where nothing was", async () => {
  const { sql } = api.deps.database;
  await sql`
    INSERT INTO atlasqueue.rollups (tenant, queue, type, resolution, at, submitted, succeeded, failed, dead, retried, waits, runs)
    SELECT tenant, 'busy', type, 'minute', date_trunc('minute', now(), 'UTC') - ago * interval '1 minute', 1, 10, 2, 0, 0, '{}', '{}'
    FROM (VALUES ('default', ''), ('default', 'a'), ('acme', '')) AS of(tenant, type), generate_series(0, 90) AS ago`;
  const seen = throughput.parse(await (await api.get("/v1/stats/throughput?queues=quiet,busy")).json());
  const [quiet, busy, ...others] = seen.items;
  expect([quiet?.queue, busy?.queue, others.length]).toEqual(["quiet", "busy", 0]);
  expect(new Set(quiet?.succeeded)).toEqual(new Set([0]));
  // Full steps have three minutes; the last one is under way.
  expect(busy?.succeeded.slice(0, -1)).toEqual(Array.from({ length: 19 }, () => 30));
  expect(busy?.submitted.slice(0, -1)).toEqual(Array.from({ length: 19 }, () => 3));
  expect(busy?.failed.slice(0, -1)).toEqual(Array.from({ length: 19 }, () => 6));
  expect(busy?.succeeded.at(-1)).toBeGreaterThanOrEqual(10);
});

test("the overview tells jobs, queues, workers and what is wrong", async () => {
  await api.deps.signal.presence.announce(worker(["mails"]));
  for (const [at, queue] of ["mails", "reports", "reports"].entries())
    await api.post(`overview-${at}`, { type: "a", queue });
  const seen = overview.parse(await (await api.get("/v1/overview")).json());
  expect(seen).toMatchObject({
    checks: { postgres: "up", redis: "up" },
    counts: { queued: 3, dead: 0 },
    queues: 2,
    paused_queues: 0,
    oldest_queued: { queue: "mails" },
    workers: { count: 1, slots: 10, active: 4, stuck: 0 },
  });
  const { sql } = api.deps.database;
  await sql`UPDATE atlasqueue.jobs SET ready_at = now() - interval '2 minutes' WHERE queue = 'reports'`;
  const later = overview.parse(await (await api.get("/v1/overview")).json());
  expect(later.oldest_queued).toMatchObject({ queue: "reports" });
  expect(later.problems).toMatchObject([{ code: "queue_without_workers", queue: "reports", count: 1 }]);
  expect(await (await api.send("POST", "/v1/queues/reports/pause")).json()).toMatchObject({ paused: true });
  const paused = overview.parse(await (await api.get("/v1/overview")).json());
  expect(paused).toMatchObject({ paused_queues: 1, oldest_queued: { queue: "mails" } });
});

test("without Redis the overview says so, and knows no workers", async () => {
  const check = () => Promise.reject(new SignalUnavailableError("away"));
  const away = await testApp({ signal: { ...noSignal(), check, state: () => "down" } });
  const seen = overview.parse(await (await away.get("/v1/overview")).json());
  expect(seen).toMatchObject({ checks: { postgres: "up", redis: "down" }, workers: null });
  expect(seen.problems.map(({ code }) => code)).toEqual(["redis_down"]);
  await away.stop();
});
