// @module-tag nightly
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { startSystem } from "./system.ts";

const system = forFile(startSystem);

test("a fleet runs its processes, restarts a killed one, and drains them all on SIGTERM", async () => {
  const api = await system.startApi();
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
