// @module-tag nightly
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@atlasqueue/embedded";
import { eventually } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dataFolder, runStart, startEnv, succeeds } from "../../test/run-start.ts";

let folder: ReturnType<typeof dataFolder>;
beforeEach(() => (folder = dataFolder()));
afterEach(() => folder.remove());

test.each([
  ["PostgreSQL", "postgres/postmaster.pid"],
  ["Redis", "redis/redis.pid"],
])("when its %s dies, it is started again, and the log says so", async (name, file) => {
  const started = await runStart(startEnv(folder.path));
  const before = await started.submit({ type: "noop", delay_seconds: 5 });
  const pid = () => Number(readFileSync(join(folder.path, file), "utf8").split("\n")[0]);
  const first = pid();
  process.kill(first, "SIGKILL");
  const told = await started.process.waitForLine(`"event":"server_ended"`);
  expect(JSON.parse(told)).toMatchObject({ level: "error", server: name });
  await started.process.waitForLine(`"event":"server_started"`);
  expect(pid()).not.toBe(first);
  await succeeds(started, before);
  await eventually(async () => succeeds(started, await started.submit({ type: "noop" })));
});

test("one that was killed can be started again at once, while its worker still has a job to finish", async () => {
  const [api, metrics] = [await freePort(), await freePort()];
  const ports = { API_PORT: String(api), WORKER_METRICS_PORT: String(metrics) };
  const env = { ...startEnv(folder.path), ...ports, WORKER_SHUTDOWN_SECONDS: "15" };
  const killed = await runStart(env);
  const id = await killed.submit({ type: "demo.sleep", payload: { ms: 60_000 } });
  await eventually(async () => expect(await killed.job(id)).toMatchObject({ status: "running" }));
  killed.process.kill("SIGKILL");
  await eventually(() => expect(() => process.kill(killed.process.pid, 0)).toThrow());
  const again = await runStart(env);
  await succeeds(again, await again.submit({ type: "noop" }));
});
