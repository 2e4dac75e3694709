import { expect, test } from "vitest";
import type { Action } from "./crash-points/faults.ts";
import { points } from "./crash-points/points.ts";
import { runFault } from "./crash-points/run.ts";
import { inParallel } from "./system.ts";

/** `CRASH_POINTS=all` tries each of them. Otherwise it is every fifth: before or after a commit in turn. */
const everything = process.env["CRASH_POINTS"] === "all";
const tried = points.filter((_, at) => everything || at % 5 === 0);
/** Stories told at once: they mostly wait. */
const at_once: Record<Action, number> = { kill: 10, throw: 12, delay: 16 };
/** They wait for the end of leases, or for the end of what is taken for an outage, and so are told first. */
const isLong = (point: string) => point.startsWith("lease/recover:");
const inOrder = tried.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));

/** Of the stories that took longest, so that the next one to make them quicker knows where to look. */
const told_max = 5;

async function runAll(action: Action): Promise<void> {
  const failed: string[] = [];
  const took = await inParallel(inOrder.length, at_once[action], async (at) => {
    const point = inOrder[at] ?? "";
    const begun = performance.now();
    await runFault(point, action).catch((error: unknown) => {
      failed.push(`${action} at ${point}: ${error instanceof Error ? error.message : String(error)}`);
    });
    return { point, seconds: (performance.now() - begun) / 1_000 };
  });
  const slowest = took.toSorted((a, b) => b.seconds - a.seconds).slice(0, told_max);
  process.stdout.write(slowest.map(({ point, seconds }) => `${seconds.toFixed(1)} s: ${action} ${point}\n`).join(""));
  expect(failed.join("\n")).toBe("");
}

const timeout = 600_000;

test("a process killed at any point breaks no guarantee, and the others go on", { tags: ["slow"], timeout }, () =>
  runAll("kill"),
);

test("an answer lost at any point breaks no guarantee", { tags: ["nightly"], timeout }, () => runAll("throw"));

test("a delay at any point breaks no guarantee", { tags: ["nightly"], timeout }, () => runAll("delay"));
