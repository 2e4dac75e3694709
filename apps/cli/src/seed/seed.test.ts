import { forFile, testCore } from "@atlasqueue/harness";
import { jobStatuses } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { explainJob, listFlows, listSchedules, queueStats, readSeries } from "@atlasqueue/core/internal/http";
import { countDrift, countJobs } from "@atlasqueue/core/internal/tools";
import { hasJobs, seedDay } from "./seed.ts";

const deps = forFile(testCore);

test("a seeded system has jobs of every status but running ones, true counts, schedules, limits and figures of several days", async () => {
  expect(await hasJobs(deps)).toBe(false);
  await seedDay(deps, { jobs: 3_000, dead: 200, queues: 30, days: 4 }, () => {});
  expect(await hasJobs(deps)).toBe(true);
  const counts = await countJobs(deps, "default");
  expect(jobStatuses.filter((status) => counts[status] === 0)).toEqual(["running"]);
  expect(counts.dead).toBe(200);
  expect((await countDrift(deps, 100_000)).drifted).toEqual([]);
  const queues = await queueStats(deps, "default");
  expect(queues.length).toBeGreaterThan(20);
  expect(queues.filter(({ paused_at }) => paused_at !== null).map(({ queue }) => queue)).toEqual(["imports"]);
  expect(queues.find(({ queue }) => queue === "webhooks")?.limits.concurrency).toBe(20);
  expect((await listSchedules(deps, "default", 10)).rows).toHaveLength(3);
  expect((await listFlows(deps, "default", {}, 10)).flows.map(({ jobs }) => jobs)).toEqual([3, 3, 6]);
  const [sample] = await deps.database.sql`SELECT id FROM atlasqueue.jobs WHERE status = 'blocked' LIMIT 1`;
  expect((await explainJob(deps, "default", sample?.id as string))?.reasons).not.toEqual([]);

  const day = await readSeries(deps, "default", { window: "24h" });
  expect(day.total.dead).toBeGreaterThan(190);
  expect(day.total.succeeded).toBeGreaterThan(2_000);
  expect(day.total.wait.p95_ms ?? 0).toBeGreaterThan(day.total.wait.p50_ms ?? 0);
  const month = await readSeries(deps, "default", { window: "30d", queue: "mails" });
  expect(month.items.filter(({ submitted }) => submitted > 0).length).toBeGreaterThan(24);
  const [late] = await deps.database.sql`
    SELECT count(*)::int AS count FROM atlasqueue.jobs
    WHERE finished_at > now() OR started_at > finished_at OR created_at > coalesce(finished_at, now())`;
  expect(late?.count).toBe(0);
});

test("a second seed adds to the first", async () => {
  const before = await countJobs(deps, "default");
  await seedDay(deps, { jobs: 100, dead: 10, queues: 1, days: 0 }, () => {});
  expect((await countJobs(deps, "default")).dead).toBe(before.dead + 10);
  expect((await countDrift(deps, 100_000)).drifted).toEqual([]);
});
