import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createLogger } from "@atlasqueue/core";
import { startFleet, whenStarted, type FleetConfig } from "./fleet.ts";
import { apart } from "./launch.ts";

/** A fleet of one process with this code unless told otherwise, and what its log says. */
async function fleetOf(code: string, config: Partial<FleetConfig<unknown>>) {
  const folder = await mkdtemp(join(tmpdir(), "fleet-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "member.mjs");
  await writeFile(file, code);
  const events: string[] = [];
  const logger = createLogger("info", "test", { write: (line) => void events.push(JSON.parse(line).event) });
  const about = z.object({ at: z.number() });
  const parts = { processes: 1, launch: apart(file), about, env: () => ({}), stop_ms_max: 5_000, logger };
  return { fleet: startFleet<unknown>({ ...parts, ...config }), events };
}

/** In a process' code, to say this. */
const say = (message: object) => `writeSync(3, ${JSON.stringify(`${JSON.stringify(message)}\n`)});`;
const sayStarted = say({ member: "started", about: { at: 1 } });

/** Reports that it started, and ends at once. */
const ending = `import { writeSync } from "node:fs"; ${sayStarted} process.exit(Number(process.env.CODE));`;
/** The system refuses a program's environment that is too long (E2BIG), and Node throws it at once, like ENOMEM. */
const refused = { LONG: "x".repeat(4_000_000) };

test("a process the system refuses to restart is tried again after a rest", async () => {
  let starts = 0;
  const { fleet } = await fleetOf(ending, {
    ends: true,
    env() {
      starts += 1;
      if (starts === 2) return refused;
      return { CODE: starts === 1 ? "1" : "0" };
    },
  });
  await expect(fleet.started).resolves.toEqual([{ at: 1 }]);
  expect(await fleet.finished).toBe(0);
  expect(starts).toBe(3);
});

test("a process the system refuses at the start makes the start fail", async () => {
  const { fleet } = await fleetOf(ending, { env: () => refused });
  await expect(fleet.started).rejects.toThrow("E2BIG");
  await fleet.stop();
});

/** Says that it started and beats; blocks for ever in its first life, and ends well in the next one. */
const hanging = `import { writeSync } from "node:fs";
  const end = Date.now() + Number(process.env.BEATS_MS);
  ${sayStarted}
  setInterval(() => {
    ${say({ member: "beat" })}
    if (Date.now() < end) return;
    if (process.env.LIFE !== "1") process.exit(0);
    for (;;);
  }, 100);`;

async function livesOf(hang_ms: number | undefined, first_life: { LIFE: string; BEATS_MS: string }) {
  let starts = 0;
  const env = () => ((starts += 1) === 1 ? first_life : { LIFE: "2", BEATS_MS: "0" });
  const { fleet, events } = await fleetOf(hanging, { ends: true, env, stop_ms_max: 1_000, hang_ms });
  return { fleet, starts: () => starts, hung: () => events.filter((event) => event === "process_hung").length };
}

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

/** Never reports that it has started, and exits with 0 on `stop`. */
const obedient = `import { Socket } from "node:net";
  new Socket({ fd: 3, readable: true }).on("data", (text) => process.exit(String(text).includes("stop") ? 0 : 1));`;

test("told to stop before it has started, it ends its processes", async () => {
  const stop = new AbortController();
  const { fleet, events } = await fleetOf(obedient, { processes: 2, stop_ms_max: 60_000 });
  const started = whenStarted(fleet, stop.signal);
  stop.abort();
  await expect(started).rejects.toThrow("before it had started");
  expect(await fleet.stop()).toBe(0);
  expect(events).toEqual(["process_started", "process_started", "process_stopped", "process_stopped"]);
});

test("what a process says about itself must have the form agreed upon", async () => {
  const { fleet } = await fleetOf(ending, { about: z.object({ at: z.string() }), env: () => ({ CODE: "0" }) });
  await expect(fleet.started).rejects.toThrow("ended with code 0 before it had started");
  await fleet.stop();
});
