import type { Overview, ProblemNow } from "@atlasqueue/contract";
import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../../config.ts";
import { orExit } from "../../exit.ts";
import { outputOf, writeJson } from "../../output/output.ts";
import { duration } from "../../output/plain.ts";
import { showTable, type Columns } from "../../output/table.ts";
import { jsonOption, urlOption } from "../../remote/options.ts";
import { withClient } from "../../remote/with-client.ts";

const columns: Columns<ProblemNow> = {
  severity: ({ severity }) => severity,
  problem: ({ code }) => code,
  since: ({ since }) => since ?? "",
  what: ({ detail }) => detail,
};

export function defineOverview(command: Command, env: Env): void {
  command
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const overview = await client.stats.overview();
          if (json) return writeJson(output, overview);
          output.tell(`${sentence(overview)}\n`);
          if (overview.problems.length === 0) return output.tell("No problems found\n");
          showTable(output, columns, overview.problems);
        }),
      ),
    );
}

function sentence({ at, counts, queues, oldest_queued, workers }: Overview): string {
  const { queued = 0, running = 0, dead = 0 } = counts;
  const waits = oldest_queued
    ? `, the oldest for ${duration(Date.parse(at) - Date.parse(oldest_queued.at))} in ${oldest_queued.queue}`
    : "";
  const fleet = workers
    ? `${workers.count} workers with ${workers.active} of ${workers.slots} slots in use`
    : "workers unknown";
  return `${queues} queues: ${queued} jobs queued${waits}; ${running} running, ${dead} dead; ${fleet}`;
}
