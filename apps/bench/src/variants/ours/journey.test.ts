import type { AtlasEvent, Database, Signal } from "@atlasqueue/core";
import { expect, test } from "vitest";
import { noteJourneys } from "./journey.ts";

const job = { job_id: "1", job_type: "noop", queue: "default", tenant: "default" };
const attempt = { ...job, attempt: 1, worker_id: "w" };

test("a job's stages follow each other without a gap, from its submission to its settlement", async () => {
  const { watch, submitted, named, stages, taken } = noteJourneys();
  const database = watch.database({ sql: { unsafe: () => Promise.resolve([]) } } as unknown as Database);
  const signal = watch.signal({
    push: async () => 1,
    take: async () => ({ ids: ["1"], from: [] }),
  } as unknown as Signal);
  const tell = (event: object) => watch.observe(event as AtlasEvent);

  const began = performance.now();
  const times = submitted();
  await database.sql.unsafe("INSERT INTO atlasqueue.jobs …");
  tell({ event: "job_created", status: "queued", ...job });
  await signal.push([{ id: "1", tenant: "default", queue: "default", priority: 0 }]);
  named(times, "1");
  await signal.take([{ tenant: "default", queue: "default" }], 10);
  await database.sql.unsafe("UPDATE atlasqueue.jobs SET status = 'running' …");
  tell({ event: "lease_acquired", ...attempt });
  tell({ event: "handler_start", ...attempt });
  expect(taken()).toEqual([]);
  await database.sql.unsafe("WITH settled AS (UPDATE atlasqueue.jobs SET status = …");
  tell({ event: "job_succeeded", ...attempt });
  const lasted = performance.now() - began;

  const found = stages(0.01);
  expect(found.map(({ name }) => name)).toEqual([
    "submitted → insert sent",
    "insert sent → committed",
    "committed → push sent",
    "push sent → popped",
    "popped → claim sent",
    "claim sent → claimed",
    "claimed → handler entered",
    "handler entered → settlement sent",
    "settlement sent → settled",
  ]);
  for (const { median_ms, slowest_ms } of found) expect(slowest_ms).toBe(median_ms);
  for (const { median_ms } of found) expect(median_ms).toBeGreaterThanOrEqual(0);
  const whole = found.reduce((sum, { median_ms }) => sum + median_ms, 0);
  expect(whole).toBeLessThanOrEqual(lasted);
  expect(taken()[0]).toBeLessThanOrEqual(whole);
});
