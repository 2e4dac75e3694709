// @module-tag nightly
import { expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { inParallel, startSystem } from "./system.ts";

const system = forFile(startSystem);

const drain = { WORKER_METRICS_PORT: "0", RETRY_BASE_DELAY_SECONDS: "0.1" };

test("worker --drain runs what is there, including retries and what they delay, and exits with 0", async () => {
  const api = await system.startApi();
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
  const api = await system.startApi();
  const ids = await inParallel(12, 12, () => api.create({ type: "demo.sleep", payload: { ms: 500 } }));
  const fleet = await system.cli(["worker", "--drain", "-p", "2", "-c", "2"], drain);
  expect(await fleet.waitForExit(40_000)).toMatchObject({ code: 0 });
  for (const id of ids) await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "succeeded" }));
  expect(fleet.logs.filter((line) => line["event"] === "worker_stopped")).toHaveLength(2);
  expect(fleet.logs.filter((line) => line["event"] === "process_died")).toHaveLength(0);
});
