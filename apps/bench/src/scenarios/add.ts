import { makePayload } from "./payload.ts";
import type { Scenario } from "./scenario.ts";

const warm_up_seconds_max = 0.5;

/** So many callers in one process, each awaiting one `add` before the next. */
export function addScenario(callers: number): Scenario {
  const name = `add, ${callers} ${callers === 1 ? "caller" : "callers"}`;
  return {
    name: `add-${callers}`,
    async run(variant, servers, effort) {
      const queue = await variant.open(servers);
      try {
        const jobs = Math.ceil(effort.jobs * variant.share);
        const warm_up_seconds = Math.min(warm_up_seconds_max, effort.seconds_max / 2);
        await addInLoops(queue.add, callers, { jobs: Math.ceil(jobs / 2), seconds_max: warm_up_seconds });
        const value = await addInLoops(queue.add, callers, { jobs, seconds_max: effort.seconds_max });
        return [{ scenario: name, unit: "per second", value }];
      } finally {
        await queue.close();
      }
    },
  };
}

type Limits = { jobs: number; seconds_max: number };

/** Adds a second: whichever comes first ends it, the jobs or the time. */
async function addInLoops(
  add: (payload: ReturnType<typeof makePayload>) => Promise<unknown>,
  callers: number,
  { jobs, seconds_max }: Limits,
): Promise<number> {
  let started = 0;
  let done = 0;
  const start = performance.now();
  const end = start + seconds_max * 1_000;
  const caller = async () => {
    while (started < jobs && performance.now() < end) {
      await add(makePayload(started++));
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (done / (performance.now() - start)) * 1_000;
}
