import { expect, test } from "vitest";
import { longPollHarness } from "../../test/long-poll.ts";
import { memorySignal } from "../signal/memory/signal.ts";

const { open, waits, add } = longPollHarness();

test("thousands of queues that join one after the other share the waits for them, and each is heard", async () => {
  const signal = memorySignal();
  let began = 0;
  open({
    ...signal,
    wait: (...given) => {
      began += 1;
      return signal.wait(...given);
    },
  });
  const queues = Array.from({ length: 3_000 }, (_, at) => `q${at}`);
  const calls = [];
  for (const queue of queues) {
    calls.push(waits({ queue }));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const last = calls.at(-1);
  const [id] = await add({ queue: "q2999" });
  expect(await last?.done).toEqual([id]);
  expect(began).toBeLessThan(queues.length / 3);
});
