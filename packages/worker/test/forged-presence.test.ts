import { readFileSync, readlinkSync } from "node:fs";
import { redisSignal } from "@atlasqueue/core";
import { eventually, redisUrl, uniqueKeys } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { workerHarness } from "./harness.ts";

const { add, claim, named, read, useSignal, work } = workerHarness();

test("a forged presence record in Redis ends no lease", { tags: ["slow"] }, async () => {
  const { jobsKey, dlqKey } = uniqueKeys();
  useSignal(() => redisSignal({ url: redisUrl(), keys: { jobs: jobsKey, deadLetters: dlqKey }, timeoutMs: 5_000 }));
  const redis = new Redis(redisUrl());
  onTestFinished(() => redis.disconnect());
  const [id = ""] = await add({ max_attempts: 1 });
  expect(await claim([id], { worker_id: "victim", lease_seconds: 600 })).toHaveLength(1);

  // A worker of this machine, silent for a minute, whose process has ended.
  const machine = `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  const record = {
    id: "victim",
    host: "h",
    pid: 1,
    queues: [],
    handlers: [],
    concurrency: 1,
    active: 0,
    state: "running",
    lease_seconds: 1_000_000,
    process: { machine, pid: 4_000_000, started: "0" },
  };
  const heard_at = Date.now() - 60_000;
  await redis.hset(`${jobsKey}:workers`, "victim", `${heard_at} ${JSON.stringify(record)}`);
  await redis.zadd(`${jobsKey}:workers-seen`, heard_at, JSON.stringify(["default", "victim"]));

  work([]);
  await eventually(() => expect(named("sweep_complete").length).toBeGreaterThan(2), { timeout_ms: 20_000 });
  expect(await read(id)).toMatchObject({ status: "running", attempts: 1 });
});
