import { statsWindows, type StatsBucket } from "@atlasqueue/contract";
import { Option, type Command } from "@commander-js/extra-typings";
import type { Env } from "../../config.ts";
import { orExit } from "../../exit.ts";
import { outputOf, writeJson } from "../../output/output.ts";
import { second } from "../../output/plain.ts";
import { showTable, type Columns } from "../../output/table.ts";
import { jsonOption, parseQueue, urlOption } from "../../remote/options.ts";
import { withClient } from "../../remote/with-client.ts";

const ms = (value: number | null) => (value === null ? "" : String(value));

const columns: Columns<StatsBucket> = {
  from: ({ at }) => second(at),
  submitted: ({ submitted }) => String(submitted),
  succeeded: ({ succeeded }) => String(succeeded),
  failed: ({ failed }) => String(failed),
  retried: ({ retried }) => String(retried),
  dead: ({ dead }) => String(dead),
  "wait p50 ms": ({ wait }) => ms(wait.p50_ms),
  p95: ({ wait }) => ms(wait.p95_ms),
  p99: ({ wait }) => ms(wait.p99_ms),
  "run p50 ms": ({ run }) => ms(run.p50_ms),
  "run p95": ({ run }) => ms(run.p95_ms),
  "run p99": ({ run }) => ms(run.p99_ms),
};

export function defineStats(command: Command, env: Env): void {
  command
    .addOption(new Option("--window <window>", "How far back").choices(statsWindows).default("1h" as const))
    .option("--queue <name>", "Filter by queue", parseQueue)
    .option("--type <type>", "Filter by type")
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nStatistics are up to five seconds late. The last line is not complete yet.")
    .action(({ window, queue, type, url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const choice = { window, ...(queue === undefined ? {} : { queue }), ...(type === undefined ? {} : { type }) };
          const series = await client.stats.series(choice);
          if (json) return writeJson(output, series);
          showTable(output, columns, series.items);
        }),
      ),
    );
}
