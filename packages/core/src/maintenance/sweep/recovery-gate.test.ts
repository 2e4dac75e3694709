import { brokenConnection, eventually, steppingDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLogger } from "../../index.ts";
import { engineHarness } from "../../../test/engine-harness.ts";
import { createRecoveryGate } from "./recovery-gate.ts";

const { deps, add, take } = engineHarness();

/** A gate whose beats are counted, and can be made to fail. */
async function running(recovery_gate_ms: number) {
  const [id] = await add({});
  await take(id);
  const seen = { beats: 0, is_away: false };
  const database = steppingDatabase(deps.database, (step) => {
    if (seen.is_away) throw brokenConnection();
    if (step === "answer") seen.beats += 1;
  });
  const stop = new AbortController();
  const gate = createRecoveryGate({ ...deps, database, logger: createLogger("silent", "test"), recovery_gate_ms });
  const run = gate.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await run;
  });
  return { gate, seen };
}
/** This process's clock, set ahead. */
const passes = (ms: number) => {
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + ms);
  onTestFinished(() => clock.mockRestore());
};

test("the gate opens when writes have been answered for long enough, and a failed recovery or a freeze closes it", async () => {
  const { gate, seen } = await running(100);
  expect([gate.isOpen(), seen.beats]).toEqual([false, 0]);
  gate.start();
  await eventually(() => expect(gate.isOpen()).toBe(true));
  gate.close();
  expect(gate.isOpen()).toBe(false);
  await eventually(() => expect(gate.isOpen()).toBe(true));
  passes(2_100);
  expect(gate.isOpen()).toBe(false);
});

test("an outage begins anew", { tags: ["slow"] }, async () => {
  const { gate, seen } = await running(2_500);
  gate.start();
  await eventually(() => expect(gate.isOpen()).toBe(true));
  seen.is_away = true;
  await eventually(() => expect(gate.isOpen()).toBe(false));
  const before = seen.beats;
  seen.is_away = false;
  await eventually(() => expect(seen.beats).toBeGreaterThan(before));
  expect(gate.isOpen()).toBe(false);
  await eventually(() => expect(gate.isOpen()).toBe(true));
});

test("beats are written once a second, and end with the last claim", { tags: ["slow"] }, async () => {
  const { gate, seen } = await running(0);
  gate.start();
  gate.start();
  await eventually(() => expect(seen.beats).toBe(3));
  await deps.database.sql`DELETE FROM atlasqueue.claims`;
  await eventually(() => expect(gate.isOpen()).toBe(false));
  expect(seen.beats).toBeLessThanOrEqual(5);
});
