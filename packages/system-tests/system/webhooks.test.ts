// @module-tag slow
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, httpReceiver } from "@atlasqueue/harness";
import { startSystem, type System } from "./system.ts";

const jobs = 1_000;
let system: System;
const folder = mkdtempSync(join(tmpdir(), "atlasqueue-webhooks-"));
beforeAll(async () => {
  system = await startSystem();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await system.stop();
});

test("a thousand webhooks from a file reach a receiver that fails one in ten, and every attempt is counted", async () => {
  const seen = new Map<string, number>();
  const receiver = await httpReceiver(({ headers }) => {
    const id = String(headers["x-atlasqueue-job-id"]);
    seen.set(id, (seen.get(id) ?? 0) + 1);
    return { status: Math.random() < 0.1 ? 500 : 200 };
  });
  const file = join(folder, "jobs.ndjson");
  const line = (at: number) => ({
    type: "webhook.deliver",
    payload: { url: receiver.url, body: { at } },
    max_attempts: 25,
    idempotency_key: `hook-${at}`,
  });
  writeFileSync(file, Array.from({ length: jobs }, (_, at) => JSON.stringify(line(at))).join("\n"));

  const api = await system.startApi({ LOG_LEVEL: "warn" });
  await system.startWorker({ LOG_LEVEL: "silent", RETRY_MAX_DELAY_SECONDS: "1" });
  const submitting = await system.cli(["submit", "--file", file, "--url", api.url, "--json"]);
  expect(await submitting.waitForExit(60_000)).toMatchObject({ code: 0 });

  const rows = await eventually(
    async () => {
      const found = await system.sql<
        { id: string; status: string; attempts: number }[]
      >`SELECT id, status, attempts FROM atlasqueue.jobs`;
      expect(found.filter(({ status }) => status === "succeeded")).toHaveLength(jobs);
      return found;
    },
    { timeout_ms: 60_000 },
  );
  expect(rows).toHaveLength(jobs);
  expect(Object.fromEntries(rows.map(({ id, attempts }) => [id, attempts]))).toEqual(Object.fromEntries(seen));
  expect(receiver.requests.length).toBeGreaterThan(jobs);
  await receiver.close();
}, 150_000);
