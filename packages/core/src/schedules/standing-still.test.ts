import { eventually, steppingDatabase } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { fireSchedules } from "./fire.ts";
import { pauseSchedule } from "./pause.ts";
import { createSchedule } from "./store.ts";

const { deps } = engineHarness();
const tenant = "default";
const job = { type: "report.send", payload: {}, queue: "q", priority: 0, max_attempts: 2 };

async function due(name: string) {
  await createSchedule(deps, tenant, { name, cron: "0 * * * *", timezone: "UTC", catch_up: "one", job });
  await deps.database.sql`UPDATE atlasqueue.schedules SET next_at = now() - interval '2 hours' WHERE name = ${name}`;
  return { tenant, name };
}
const jobs = () => deps.database.sql`SELECT FROM atlasqueue.jobs`;
const isFree = (name: string) =>
  deps.database.sql`SELECT FROM atlasqueue.schedules WHERE name = ${name} FOR UPDATE NOWAIT`;

test("a process that stands still as it fires keeps what it holds from others for some seconds only", async () => {
  const ref = await due("still");
  const seen: string[] = [];
  let free: Promise<unknown> | undefined;
  const database = steppingDatabase(deps.database, async (step, _number, _text, sent) => {
    if (step !== "statement" || sent.length !== 2) return;
    await isFree("still").catch((error: unknown) => seen.push(String(error)));
    free = eventually(() => isFree("still"), { timeout_ms: 15_000 });
    await free;
  });
  await expect(fireSchedules({ ...deps, database }, [ref])).rejects.toThrow();
  await free;
  expect(seen).toEqual([expect.stringContaining("could not obtain lock")]);
  expect(await jobs()).toHaveLength(0);
  expect(await fireSchedules(deps, [ref])).toMatchObject({ schedules: 1 });
});

test("nothing is held while the slots of schedules are reckoned; what was changed meanwhile is left", async () => {
  const [paused, fired, untouched] = [await due("paused"), await due("fired"), await due("untouched")];
  let begun = false;
  const database = steppingDatabase(deps.database, async (_step, number) => {
    if (number !== 4) return;
    begun = true;
    for (const { name } of [paused, fired, untouched]) await isFree(name);
    await pauseSchedule(deps, paused);
    await fireSchedules(deps, [fired]);
  });
  expect(await fireSchedules({ ...deps, database }, [paused, fired, untouched])).toMatchObject({
    schedules: 1,
    reached: 3,
  });
  expect(begun).toBe(true);
  expect(
    await deps.database.sql`SELECT name FROM atlasqueue.schedules WHERE last_slot_at IS NULL ORDER BY name`,
  ).toEqual([{ name: "paused" }]);
  expect(await jobs()).toHaveLength(2);
});
