import { setTimeout as delay } from "node:timers/promises";
import type { Meter, Rate } from "../costs/meter.ts";
import { makePayload } from "./payload.ts";
import type { BenchQueue } from "../variants/variant.ts";

export type SteadyLoad = {
  /** Jobs handled so far. */
  handled(): number;
  /** Of the jobs handled over the next `seconds`. */
  rateOver(seconds: number): Promise<Rate>;
  /** No more jobs; resolves when all have been handled. */
  stop(): Promise<void>;
};

/**
 * Adding and processing at once, as fast as both go together: a number of loops, each of which adds a job, waits until
 * it has been handled, and adds the next. The worker is in this process.
 */
export async function startSteadyLoad(queue: BenchQueue, meter: Meter, in_flight: number): Promise<SteadyLoad> {
  const waiting = new Map<number, () => void>();
  let added = 0;
  let handled = 0;
  let stopping = false;
  const working = await queue.work(({ n }) => {
    handled += 1;
    waiting.get(n)?.();
    waiting.delete(n);
  }, "throughput");
  const loop = async () => {
    while (!stopping) {
      const n = added++;
      const seen = new Promise<void>((resolve) => waiting.set(n, resolve));
      await Promise.all([queue.add(makePayload(n)), seen]);
    }
  };
  const loops = Promise.all(Array.from({ length: in_flight }, loop));
  // Told by whoever waits next.
  loops.catch(() => {});
  return {
    handled: () => handled,
    async rateOver(seconds) {
      const before = handled;
      const measurement = await meter.start();
      // A loop that fails ends the wait.
      await Promise.race([delay(seconds * 1_000), loops]);
      return measurement.end(handled - before);
    },
    async stop() {
      stopping = true;
      try {
        await loops;
      } finally {
        await working.stop();
      }
    },
  };
}
