import type { Meter, Rate } from "../costs/meter.ts";
import type { BenchQueue } from "../variants/variant.ts";
import { default_bytes, makePayload } from "../run/payload.ts";
import type { Effort, Scenario } from "./scenario.ts";

const warm_up_seconds_max = 0.5;

/** A number of callers in one process, each awaiting one `add` before the next. */
export function addScenario(callers: number): Scenario {
  const name = `add, ${callers} ${callers === 1 ? "caller" : "callers"}`;
  return {
    name: `add-${callers}`,
    minutes: 3,
    async run(variant, servers, effort, meter) {
      const queue = await variant.open(servers);
      try {
        const jobs = Math.ceil(effort.jobs * variant.share);
        return [{ scenario: name, ...(await measureAdds(queue, meter, callers, { ...effort, jobs })) }];
      } finally {
        await queue.close();
      }
    },
  };
}

/** Adds per second, after a shorter warm-up run. */
export async function measureAdds(
  queue: BenchQueue,
  meter: Meter,
  callers: number,
  { jobs, seconds_max }: Pick<Effort, "jobs" | "seconds_max">,
  bytes = default_bytes,
): Promise<Rate> {
  const warm_up_seconds = Math.min(warm_up_seconds_max, seconds_max / 2);
  const add = (n: number) => queue.add(makePayload(n, bytes));
  await addInLoops(add, callers, { jobs: Math.ceil(jobs / 2), seconds_max: warm_up_seconds });
  const measurement = await meter.start();
  return measurement.end(await addInLoops(add, callers, { jobs, seconds_max }));
}

type Limits = { jobs: number; seconds_max: number };

/** Whichever comes first ends it, the jobs or the time. Returns how many it has added. */
async function addInLoops(
  add: (n: number) => Promise<unknown>,
  callers: number,
  { jobs, seconds_max }: Limits,
): Promise<number> {
  let started = 0;
  let done = 0;
  const end = performance.now() + seconds_max * 1_000;
  const caller = async () => {
    while (started < jobs && performance.now() < end) {
      await add(started++);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return done;
}
