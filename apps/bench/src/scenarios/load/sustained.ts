import type { Meter } from "../../costs/meter.ts";
import { startSteadyLoad } from "../../run/steady-load.ts";
import type { BenchQueue } from "../../variants/variant.ts";

const in_flight = 500;
const warm_up_seconds = 1;
/** Of what was sustained: the load under which latencies are measured. */
export const part = 0.5;

/** What it can bear over some seconds, after a warm-up. */
export async function sustained(queue: BenchQueue, meter: Meter, seconds: number): Promise<number> {
  const load = await startSteadyLoad(queue, meter, in_flight);
  try {
    await load.rateOver(warm_up_seconds);
    return seconds > 0 ? (await load.rateOver(seconds)).value : 0;
  } finally {
    await load.stop();
  }
}
