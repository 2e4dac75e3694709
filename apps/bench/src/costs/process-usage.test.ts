import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "@atlasqueue/harness";
import { cpuSeconds, parentOf, residentMb, treeCpuSeconds, treePrivateMb } from "./process-usage.ts";

const node = (script: string) => spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });

/** Uses the processor for about so long. */
const busy = (ms: number) =>
  `const end = process.cpuUsage().user + ${ms} * 1000; while (process.cpuUsage().user < end);`;

test("the processor time of a tree includes children that run and children that have ended", async () => {
  const running = `${busy(300)} setInterval(() => {}, 1_000); console.log(process.pid)`;
  const parent = node(`
    const { spawn, spawnSync } = require("node:child_process");
    spawnSync(process.execPath, ["-e", ${JSON.stringify(busy(300))}]);
    spawn(process.execPath, ["-e", ${JSON.stringify(running)}], { stdio: ["ignore", "inherit", "inherit"] });`);
  const [said] = (await once(parent.stdout, "data")) as [Buffer];
  const child = Number(said.toString());
  const pid = parent.pid ?? 0;
  onTestFinished(() => [child, pid].forEach((one) => void process.kill(one, "SIGKILL")));
  const both = await treeCpuSeconds([pid]);
  expect(both - (await cpuSeconds(pid))).toBeGreaterThan(0.55);
  expect(await treeCpuSeconds([pid])).toBeGreaterThanOrEqual(both);
  expect(await parentOf(child)).toBe(pid);
  expect(await treePrivateMb(pid)).toBeGreaterThan((await residentMb(pid)) / 10);
});

test("a process that is gone has no parent, and counts for nothing", async () => {
  const gone = node("");
  await once(gone, "exit");
  await eventually(async () => expect(await parentOf(gone.pid ?? 0)).toBeUndefined());
  expect(await treeCpuSeconds([gone.pid ?? 0])).toBe(0);
  await expect(cpuSeconds(gone.pid ?? 0)).rejects.toThrow("no process");
});
