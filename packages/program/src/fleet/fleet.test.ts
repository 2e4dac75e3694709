import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createLogger } from "@atlasqueue/core";
import { startFleet, whenStarted } from "./fleet.ts";
import { apart } from "./launch.ts";

const about = z.object({ at: z.number() });

/** The system refuses a program's environment that is too long (E2BIG), and Node throws it at once, like ENOMEM. */
const refused = { LONG: "x".repeat(4_000_000) };

/** Ends at once; when its environment lets it stay, it reports that it started. */
async function program(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fleet-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "member.mjs");
  const says = JSON.stringify({ member: "started", about: { at: 1 } });
  await writeFile(
    file,
    `import { writeSync } from "node:fs"; writeSync(3, ${JSON.stringify(`${says}\n`)}); process.exit(Number(process.env.CODE));`,
  );
  return file;
}

test("a process the system refuses to restart is tried again after a rest", async () => {
  let starts = 0;
  const fleet = startFleet({
    processes: 1,
    launch: apart(await program()),
    about,
    ends: true,
    env() {
      starts += 1;
      if (starts === 2) return refused;
      return { CODE: starts === 1 ? "1" : "0" };
    },
    stop_ms_max: 5_000,
    logger: createLogger("silent", "test"),
  });
  await expect(fleet.started).resolves.toEqual([{ at: 1 }]);
  expect(await fleet.finished).toBe(0);
  expect(starts).toBe(3);
});

test("a process the system refuses at the start makes the start fail", async () => {
  const fleet = startFleet({
    processes: 1,
    launch: apart(await program()),
    about,
    env: () => refused,
    stop_ms_max: 5_000,
    logger: createLogger("silent", "test"),
  });
  await expect(fleet.started).rejects.toThrow("E2BIG");
  await fleet.stop();
});

/** Says that it started and beats; blocks for ever in its first life, and ends well in the next one. */
async function hangingProgram(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fleet-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "member.mjs");
  const line = (message: object) => JSON.stringify(`${JSON.stringify(message)}\n`);
  await writeFile(
    file,
    `import { writeSync } from "node:fs";
     const end = Date.now() + Number(process.env.BEATS_MS);
     writeSync(3, ${line({ member: "started", about: { at: 1 } })});
     setInterval(() => {
       writeSync(3, ${line({ member: "beat" })});
       if (Date.now() < end) return;
       if (process.env.LIFE !== "1") process.exit(0);
       for (;;);
     }, 100);`,
  );
  return file;
}

async function livesOf(hang_ms: number | undefined, first_life: { LIFE: string; BEATS_MS: string }) {
  const lines: { event: string }[] = [];
  let starts = 0;
  const fleet = startFleet({
    processes: 1,
    launch: apart(await hangingProgram()),
    about,
    ends: true,
    env: () => ((starts += 1) === 1 ? first_life : { LIFE: "2", BEATS_MS: "0" }),
    stop_ms_max: 1_000,
    hang_ms,
    logger: createLogger("info", "test", { write: (line) => void lines.push(JSON.parse(line)) }),
  });
  return { fleet, starts: () => starts, hung: () => lines.filter(({ event }) => event === "process_hung").length };
}

test("a process whose event loop is blocked is killed and started again", { tags: ["nightly"] }, async () => {
  const { fleet, starts, hung } = await livesOf(4_000, { LIFE: "1", BEATS_MS: "0" });
  expect(await fleet.finished).toBe(0);
  expect([starts(), hung()]).toEqual([2, 1]);
});

test("a process that keeps beating is left alone, however long it works", { tags: ["nightly"] }, async () => {
  const { fleet, starts, hung } = await livesOf(8_000, { LIFE: "quiet", BEATS_MS: "11000" });
  expect(await fleet.finished).toBe(0);
  expect([starts(), hung()]).toEqual([1, 0]);
});

test("with the watch off, a blocked process is killed only at the end", async () => {
  const { fleet, starts, hung } = await livesOf(undefined, { LIFE: "1", BEATS_MS: "0" });
  await fleet.started;
  expect(await fleet.stop()).toBe(1);
  expect([starts(), hung()]).toEqual([1, 0]);
});

test("told to stop before it has started, it ends its processes", async () => {
  const stop = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), "fleet-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "member.mjs");
  // Never says that it started, and does as it is told.
  await writeFile(
    file,
    `import { Socket } from "node:net";
     new Socket({ fd: 3, readable: true }).on("data", (text) => process.exit(String(text).includes("stop") ? 0 : 1));`,
  );
  const events: string[] = [];
  const fleet = startFleet({
    processes: 2,
    launch: apart(file),
    about,
    env: () => ({}),
    stop_ms_max: 60_000,
    logger: createLogger("info", "test", { write: (line) => void events.push(JSON.parse(line).event) }),
  });
  const started = whenStarted(fleet, stop.signal);
  stop.abort();
  await expect(started).rejects.toThrow("before it had started");
  expect(await fleet.stop()).toBe(0);
  expect(events).toEqual(["process_started", "process_started", "process_stopped", "process_stopped"]);
});

test("what a process says about itself must have the form agreed upon", async () => {
  const fleet = startFleet({
    processes: 1,
    launch: apart(await program()),
    about: z.object({ at: z.string() }),
    env: () => ({ CODE: "0" }),
    stop_ms_max: 5_000,
    logger: createLogger("silent", "test"),
  });
  await expect(fleet.started).rejects.toThrow("ended with code 0 before it had started");
  await fleet.stop();
});
