import { spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { isGone, ownMark, type ProcessMark } from "./process-mark.ts";

const own = ownMark();
const mark = (changes: Partial<ProcessMark>): ProcessMark => {
  if (!own) throw new Error("this system does not say which process we are");
  return { ...own, ...changes };
};

test("a process is there while it runs or is stopped, and gone once killed", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); console.log('up')"]);
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  const { readFileSync } = await import("node:fs");
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  expect(isGone(mark({ pid, started }), own)).toBe(false);
  child.kill("SIGSTOP");
  expect(isGone(mark({ pid, started }), own)).toBe(false);
  child.kill("SIGKILL");
  await eventually(() => expect(isGone(mark({ pid, started }), own)).toBe(true));
});

test("a process whose id was reused is gone; one on another machine cannot be judged here", () => {
  expect(isGone(mark({}), own)).toBe(false);
  expect(isGone(mark({ started: "1" }), own)).toBe(true);
  expect(isGone(mark({ machine: "another", pid: 2 ** 22 }), own)).toBe(false);
  expect(isGone(mark({ pid: 2 ** 22 }), null)).toBe(false);
});
