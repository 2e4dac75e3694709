import { spawn } from "node:child_process";
import { once } from "node:events";
import { spawnProcess, testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { mainFile } from "../test/run-start.ts";

/** Sends itself a SIGTERM as soon as anything listens for one: before what the command needs is loaded. */
const impatient = `data:text/javascript,${encodeURIComponent(`
  const looking = setInterval(() => {
    if (process.listenerCount("SIGTERM") === 0) return;
    clearInterval(looking);
    process.kill(process.pid, "SIGTERM");
  }, 1);
`)}`;

// The first process of a container would never hear of a signal that nothing listens for.
test.each([
  ["worker", 0],
  ["top", 143],
])("%s, told to stop while it is still being loaded, ends with %i", async (command, code) => {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  const started = await spawnProcess(mainFile, {
    args: [command],
    env: {
      NODE_OPTIONS: `--import=${impatient}`,
      DATABASE_URL: own.url,
      REDIS_URL: undefined,
      API_PORT: "0",
      WORKER_METRICS_PORT: "0",
    },
  });
  expect(await started.waitForExit()).toEqual({ code, signal: null });
  // It may have come so far that it started, and stopped again.
  const events = started.logs.map(({ event }) => event);
  expect([started.errorLines, events.filter((event) => event === "worker_started").length]).toEqual([
    [],
    events.filter((event) => event === "worker_stopped").length,
  ]);
});

test("mcp without an input, as from /dev/null, ends at once with 0 and says nothing", async () => {
  const child = spawn(process.execPath, [mainFile, "mcp"], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  expect({ code, said }).toEqual({ code: 0, said: "" });
});
