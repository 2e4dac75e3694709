import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { outputOf, writeJson } from "../output/output.ts";
import { showTable } from "../output/table.ts";
import { queueColumns } from "../queues/columns.ts";
import { jsonOption, parseQueues, urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";

export function addQueues(program: Command, env: Env): void {
  const queues = program.command("queues").description("Look at queues, pause and resume them.");

  queues
    .command("list")
    .description("List queues with their jobs by status, and for how long the oldest one has waited.")
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const items = await client.queues();
          if (json) return writeJson(output, { items });
          if (items.length === 0) return output.tell("there are no queues yet; a queue comes with its first job\n");
          showTable(output, queueColumns, items);
        }),
      ),
    );

  for (const [verb, done, description] of [
    ["pause", "paused", "Start no more jobs of queues; they are still accepted, and those that run go on."],
    ["resume", "open", "Start the jobs of paused queues again."],
  ] as const)
    queues
      .command(verb)
      .description(description)
      .argument("<queue...>", "their names", parseQueues)
      .addOption(urlOption())
      .addOption(jsonOption())
      .action((names, { url, json }) =>
        orExit(() =>
          withClient(env, { url }, async (client) => {
            const output = outputOf({ json });
            const items = [];
            for (const name of names) {
              items.push(await client[verb](name));
              if (!json) output.tell(`${name} is ${done}\n`);
            }
            if (json) writeJson(output, { items });
          }),
        ),
      );
}
