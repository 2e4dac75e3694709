import { onlyOurs, oursOf, type Figure, type Scenario } from "../scenario.ts";
import { processAtMost } from "./process-at-most.ts";

const sizes = [1, 100, 1_000, 10_000];

/** `process` with one worker whose jobs are dealt out to more and more queues. They are there before it starts. */
export const manyQueues: Scenario = {
  name: "many-queues",
  suits: onlyOurs,
  minutes: 6,
  seconds_max: () => 600,
  async run(variant, servers, { jobs }, meter) {
    const ours = oursOf(variant);
    await ours.migrate(servers);
    const figures: Figure[] = [];
    // The first one warms up.
    for (const [at, size] of [1, ...sizes.filter((one) => one <= jobs)].entries()) {
      const [queue = "", ...others] = Array.from({ length: size }, (_, number) => `q${at}-${number}`);
      await ours.seedBacklog(servers, jobs, [queue, ...others]);
      const rate = await processAtMost(ours, servers, meter, { jobs, queue, others });
      const curve = { name: "process with one worker", by: "queues", x: size };
      if (at > 0)
        figures.push({
          scenario: `process, ${size.toLocaleString("en")} ${size === 1 ? "queue" : "queues"}`,
          ...rate,
          curve,
        });
    }
    return figures;
  },
};
