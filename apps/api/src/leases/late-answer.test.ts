import { leaseAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { eventually, forFile, steppingDatabase, testDatabase } from "@atlasqueue/harness";
import { expect, test, vi } from "vitest";
import { testApp } from "../../test/test-app.ts";

const lease_seconds = 90;
/** What happens once a claim was sent, before it is answered. */
let claimed = () => {};
const signal = memorySignal();
const own = forFile(testDatabase);
const api = forFile(() => {
  const database = steppingDatabase(own.database, (step, _number, text) => {
    if (step === "answer" && text.includes("attempts = attempts + 1")) claimed();
  });
  return testApp({ signal, database });
});

test("an answer says how long its call had waited when the lease was asked for, and counts nothing after that", async () => {
  // This process's clock, which tells whether an answer is late.
  const now = performance.now.bind(performance);
  let gone_by_ms = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + gone_by_ms);
  const waits = vi.spyOn(signal, "wait");
  const asked_at = now();
  const wish = { worker_id: "w", lease_seconds, wait_seconds: 30 };
  const answered = api.send("POST", "/v1/queues/q/lease", undefined, wish);
  await eventually(() => expect(waits).toHaveBeenCalled());
  gone_by_ms += 5_000;
  let most_ms = 0;
  // Far from a third of the lease, also where the machine is slow.
  claimed = () => {
    most_ms = 5_000 + now() - asked_at;
    gone_by_ms += 200;
  };
  await api.post("late", { type: "a", queue: "q" });
  const { jobs, waited_ms, remaining_ms } = leaseAnswer.parse(await (await answered).json());
  expect(jobs).toHaveLength(1);
  expect(waited_ms).toBeGreaterThanOrEqual(5_000);
  expect(waited_ms).toBeLessThanOrEqual(most_ms);
  expect(remaining_ms).toBe(lease_seconds * 1_000);
});
