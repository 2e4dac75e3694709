import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { memorySignal } from "./signal.ts";

const heapAfterGc = (): number => {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
};
const queue = (at: number) => ({ tenant: "greedy", queue: `made-up-${at}` });
const id = "0192";

test("queues that were asked for, or served until they were empty, leave nothing behind", async () => {
  const signal = memorySignal();
  const before = heapAfterGc();
  for (let at = 0; at < 100_000; at += 1) {
    await signal.take([queue(at)], 1);
    await signal.look(queue(at));
    await signal.setMarked(queue(at), false);
    await signal.push([{ ...queue(-at), id, priority: at % 2 }]);
    expect(await signal.take([queue(-at)], 5)).toEqual([id]);
  }
  expect(heapAfterGc() - before).toBeLessThan(20_000_000);
  await signal.close();
});
