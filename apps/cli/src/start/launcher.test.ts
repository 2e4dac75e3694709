import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { mainFile, serversOf, startEnv } from "../../test/run-start.ts";

// What `npx pnpm start` is on Debian: a chain of processes whose outer shell dies of SIGTERM without passing it on.
test.runIf(process.platform === "linux")("it drains and stops when the shell started by npx ends", async () => {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  const env = { ...startEnv("unused"), ...serversOf(url) };
  const outer = spawn("sh", ["-c", 'sh -c "$COMMAND; exit"; exit'], {
    env: { ...process.env, ...env, COMMAND: `'${process.execPath}' '${mainFile}' start` },
    stdio: ["ignore", "pipe", "inherit"],
    // In its own group, so that a system that goes on can be ended.
    detached: true,
  });
  onTestFinished(() => {
    try {
      if (outer.pid !== undefined) process.kill(-outer.pid, "SIGKILL");
    } catch {
      // All of it is gone, as it should be.
    }
  });
  // Ends with the last process that holds it: the one running the system.
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
