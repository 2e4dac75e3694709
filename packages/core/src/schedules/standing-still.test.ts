import { eventually, steppingDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { dueSchedules, fireSchedules } from "./fire.ts";
import { pauseSchedule } from "./pause.ts";
import { putSchedule } from "./store.ts";

const { deps } = engineHarness();
const tenant = "default";
const job = { type: "report.send", payload: {}, queue: "q", priority: 0, max_attempts: 2 };

async function due(name: string) {
  await putSchedule(deps, tenant, { name, cron: "0 * * * *", timezone: "UTC", catch_up: "one", job });
  await deps.database.sql`UPDATE atlasqueue.schedules SET next_at = now() - interval '2 hours' WHERE name = ${name}`;
}
const allDue = () => dueSchedules(deps, 10, []);
const jobs = () => deps.database.sql`SELECT FROM atlasqueue.jobs`;
const isFree = (name: string) =>
  deps.database.sql`SELECT FROM atlasqueue.schedules WHERE name = ${name} FOR UPDATE NOWAIT`;

test("a process that stands still as it fires keeps what it holds from others for some seconds only", async () => {
  await due("still");
  const seen: string[] = [];
  let free: Promise<unknown> | undefined;
  const database = steppingDatabase(deps.database, async (step, _number, _text, sent) => {
    if (step !== "statement" || sent.length !== 2) return;
    await isFree("still").catch((error: unknown) => seen.push(String(error)));
    free = eventually(() => isFree("still"), { timeout_ms: 15_000 });
    await free;
  });
  await expect(fireSchedules({ ...deps, database }, await allDue())).rejects.toThrow();
  await free;
  expect(seen).toEqual([expect.stringContaining("could not obtain lock")]);
  expect(await jobs()).toHaveLength(0);
  expect(await fireSchedules(deps, await allDue())).toMatchObject({ schedules: 1 });
});

test("nothing is held while the slots of schedules are reckoned; what was changed meanwhile is left", async () => {
  for (const name of ["paused", "fired", "untouched"]) await due(name);
  const rows = await allDue();
  const others = (await allDue()).filter(({ name }) => name === "fired");
  let begun = false;
  const database = steppingDatabase(deps.database, async (step) => {
    if (begun || step !== "statement") return;
    begun = true;
    for (const { name } of rows) await isFree(name);
    await pauseSchedule(deps, { tenant, name: "paused" });
    await fireSchedules(deps, others);
  });
  expect(await fireSchedules({ ...deps, database }, rows)).toMatchObject({ schedules: 1 });
  expect(begun).toBe(true);
  expect(
    await deps.database.sql`SELECT name FROM atlasqueue.schedules WHERE last_slot_at IS NULL ORDER BY name`,
  ).toEqual([{ name: "paused" }]);
  expect(await jobs()).toHaveLength(2);
});
