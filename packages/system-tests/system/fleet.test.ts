// @module-tag nightly
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { inParallel, startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);
let api: Api;
beforeAll(async () => void (api = await system.startApi()));

test("a fleet runs its processes, restarts a killed one, and drains them all on SIGTERM", async () => {
  const fleet = await system.startWorker({ WORKER_PROCESSES: "3", WORKER_LEASE_SECONDS: "1" });
  const pids = () =>
    fleet.logs.filter((line) => line["event"] === "process_started").map((line) => Number(line["pid"]));
  await eventually(() => expect(fleet.logs.filter((line) => line["event"] === "worker_started")).toHaveLength(3), {
    timeout_ms: 20_000,
  });

  const ids = await Promise.all(
    Array.from({ length: 20 }, () => api.create({ type: "demo.sleep", payload: { ms: 300 } })),
  );
  process.kill(pids()[0] ?? 0, "SIGKILL");
  await eventually(() => expect(pids()).toHaveLength(4), { timeout_ms: 20_000 });
  for (const id of ids)
    await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "succeeded" }), {
      timeout_ms: 20_000,
    });

  const running = await api.create({ type: "demo.sleep", payload: { ms: 1_000 } });
  await fleet.waitForLine(new RegExp(`"event":"handler_start".*${running}`));
  fleet.kill("SIGTERM");
  expect(await fleet.waitForExit(20_000)).toMatchObject({ code: 0 });
  expect(await api.read(running)).toMatchObject({ status: "succeeded" });
  for (const pid of pids()) expect(() => readFileSync(`/proc/${pid}/stat`)).toThrow();
});

const drain = { WORKER_METRICS_PORT: "0", RETRY_BASE_DELAY_SECONDS: "0.1" };

test("worker --drain runs what is there, including retries and what they delay, and exits with 0", async () => {
  const ids = await inParallel(20, 10, (at) =>
    api.create(
      at % 5 === 0
        ? { type: "demo.flaky", payload: { fail_times: 2 } }
        : { type: "demo.sleep", payload: { ms: 300 }, delay_seconds: at % 3 },
    ),
  );
  const far = await api.create({ type: "noop", delay_seconds: 3_600 });
  const elsewhere = await api.create({ type: "noop", queue: "elsewhere" });
  const worker = await system.cli(["worker", "--drain", "-c", "4"], drain);
  expect(await worker.waitForExit(40_000)).toMatchObject({ code: 0 });
  for (const id of ids) expect(await api.read(id)).toMatchObject({ status: "succeeded" });
  expect(await api.read(far)).toMatchObject({ status: "scheduled" });
  expect(await api.read(elsewhere)).toMatchObject({ status: "queued" });
});

test("a fleet of two drains and exits with 0 when both have", async () => {
  const ids = await inParallel(12, 12, () => api.create({ type: "demo.sleep", payload: { ms: 500 } }));
  const fleet = await system.cli(["worker", "--drain", "-p", "2", "-c", "2"], drain);
  expect(await fleet.waitForExit(40_000)).toMatchObject({ code: 0 });
  for (const id of ids) await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "succeeded" }));
  expect(fleet.logs.filter((line) => line["event"] === "worker_stopped")).toHaveLength(2);
  expect(fleet.logs.filter((line) => line["event"] === "process_died")).toHaveLength(0);
});
