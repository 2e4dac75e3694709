import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { spawnProcess, type SpawnedProcess } from "./spawn-process.ts";

const talker = fileURLToPath(new URL("../test/talker.ts", import.meta.url));

let ours: SpawnedProcess;
let leftByTest: number;
beforeAll(async () => void (ours = await spawnProcess(talker)));
afterAll(async () => {
  await ours.stop();
  await expect(ours.waitForExit()).resolves.toEqual({ code: null, signal: "SIGKILL" });
});

test("lines and log lines are collected, with the environment passed on and added to", async () => {
  const child = await spawnProcess(talker, { args: ["exit"], env: { GREETING: "hello" } });
  expect(await child.waitForExit()).toEqual({ code: 4, signal: null });
  expect(child.lines).toEqual(["starting", expect.stringContaining("ready"), "{not json"]);
  expect(child.errorLines).toEqual(["a warning"]);
  expect(child.logs).toEqual([{ level: 30, msg: "ready", greeting: "hello" }]);
});

test("a line is found by text or pattern, on stdout or stderr, before and after it is printed", async () => {
  const child = await spawnProcess(talker);
  expect(await child.waitForLine("start")).toBe("starting");
  expect(await child.waitForLine(/^a w/)).toBe("a warning");
  expect(await child.waitForLine(/^start/g)).toBe("starting");
});

test("a line that never comes fails with what was printed instead", async () => {
  const child = await spawnProcess(talker);
  await child.waitForLine("a warning");
  await expect(child.waitForLine("done", 20)).rejects.toThrow(/did not say done within 20 ms; it said:\nstarting\n/);
});

test("a process that is gone is not waited for", async () => {
  const child = await spawnProcess(talker, { args: ["exit"] });
  await expect(child.waitForLine("done", 60_000)).rejects.toThrow(/exited \(4\) without saying done:\nstarting\n/);
});

test("a signal reaches the process", async () => {
  const child = await spawnProcess(talker, { args: ["drain"] });
  await child.waitForLine("a warning");
  await expect(child.waitForExit(20)).rejects.toThrow("did not exit within 20 ms");
  expect(child.kill()).toBe(true);
  expect(await child.waitForExit()).toEqual({ code: 0, signal: null });
  expect(child.kill()).toBe(false);
});

test("a process may be left running at the end of a test", async () => {
  leftByTest = (await spawnProcess(talker)).pid;
  expect(process.kill(leftByTest, 0)).toBe(true);
});

test("and is gone after it, unlike one started before the tests", async () => {
  await eventually(() => expect(() => process.kill(leftByTest, 0)).toThrow("ESRCH"), {
    timeout_ms: 1_000,
  });
  expect(process.kill(ours.pid, 0)).toBe(true);
});
