import { findProgram, pgBouncer } from "@atlasqueue/harness/programs";
import type { ServerUrls } from "../variants/variant.ts";
import { measureAdds } from "./add.ts";
import { measureProcess } from "./process.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "./scenario.ts";

const callers = 50;
/** As many as the producer and the worker have together. */
const pool_size = 15;

/**
 * What prepared statements are worth, and what a PgBouncer costs that keeps none: adds and `process` with them, without
 * them, and without them through it.
 */
export const poolerScenario: Scenario = {
  name: "pooler",
  minutes: 4,
  suits: (variant) => onlyOurs(variant) && findProgram("pgbouncer") !== undefined,
  async run(variant, servers, effort, meter) {
    const ours = oursOf(variant);
    const pooler = await pgBouncer(servers.postgres, { pool_size });
    const figures: Figure[] = [];
    const measure = async (how: string, urls: ServerUrls, prepared: boolean) => {
      const queue = await ours.open(urls, { queue: `bench-${figures.length}`, prepared });
      const adding = await ours.open(urls, { queue: `bench-add-${figures.length}`, prepared });
      try {
        const added = await measureAdds(adding, meter, callers, effort);
        figures.push({ scenario: `add, ${callers} callers, ${how}`, ...added });
        figures.push({ scenario: `process, ${how}`, ...(await measureProcess(queue, meter, effort.jobs)) });
      } finally {
        await Promise.all([queue.close(), adding.close()]);
      }
    };
    try {
      await measure("prepared", servers, true);
      await measure("unprepared", servers, false);
      await measure("unprepared, through PgBouncer", { ...servers, postgres: pooler.url }, false);
      return figures;
    } finally {
      await pooler.stop();
    }
  },
};
