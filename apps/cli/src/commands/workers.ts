import type { Worker } from "@atlasqueue/contract";
import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { outputOf, writeJson } from "../output/output.ts";
import { second } from "../output/plain.ts";
import { showTable, type Columns } from "../output/table.ts";
import { jsonOption, urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";

const columns: Columns<Worker> = {
  id: ({ id }) => id,
  host: ({ host }) => host,
  pid: ({ pid }) => String(pid),
  state: ({ state }) => state,
  active: ({ active, concurrency }) => `${active}/${concurrency}`,
  "jobs/min": ({ jobs_per_minute }) => String(jobs_per_minute ?? "-"),
  "memory MiB": ({ memory_bytes }) => (memory_bytes === null ? "-" : String(Math.round(memory_bytes / 2 ** 20))),
  version: ({ version }) => version ?? "-",
  started: ({ started_at }) => (started_at === null ? "-" : second(started_at)),
  "last seen": ({ last_seen }) => second(last_seen),
  queues: ({ queues }) => queues.join(","),
  handlers: ({ handlers }) => handlers.join(","),
};

export function defineWorkers(command: Command, env: Env): void {
  command
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const items = await client.workers();
          if (json) return writeJson(output, { items });
          if (items.length === 0) return output.tell("No workers seen recently\n");
          showTable(output, columns, items);
        }),
      ),
    );
}
