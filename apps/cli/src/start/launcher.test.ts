import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { redisUrl, testDatabase, uniqueKeys } from "@atlasqueue/testing";
import { expect, onTestFinished, test } from "vitest";
import { mainFile, startEnv } from "../../test/run-start.ts";

// What `npx pnpm start` is on Debian: a chain of processes of which the outer shell dies of SIGTERM and tells nobody.
test.runIf(process.platform === "linux")("it drains and stops when the shell that npx started is ended", async () => {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  const { jobsKey, dlqKey } = uniqueKeys();
  const env = {
    ...startEnv("unused"),
    DATABASE_URL: url,
    REDIS_URL: redisUrl(),
    JOB_QUEUE_KEY: jobsKey,
    DLQ_KEY: dlqKey,
  };
  const outer = spawn("sh", ["-c", 'sh -c "$COMMAND; exit"; exit'], {
    env: { ...process.env, ...env, COMMAND: `'${process.execPath}' '${mainFile}' start` },
    stdio: ["ignore", "pipe", "inherit"],
    // A group of its own, so that a system that goes on can be ended.
    detached: true,
  });
  onTestFinished(() => {
    try {
      if (outer.pid !== undefined) process.kill(-outer.pid, "SIGKILL");
    } catch {
      // All of it is gone, as it should be.
    }
  });
  // Ends when the last process that holds it has ended: the one that runs the system.
  const said = text(outer.stdout);
  await new Promise<void>((resolve) =>
    outer.stdout.on("data", (chunk: Buffer) => {
      if (chunk.includes("worker_started")) resolve();
    }),
  );
  outer.kill("SIGTERM");
  await once(outer, "exit");
  expect(await said).toContain("worker_stopped");
});
