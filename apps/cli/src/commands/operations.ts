import { limits, type Operation } from "@atlasqueue/contract";
import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { outputOf, writeJson } from "../output/output.ts";
import { second } from "../output/plain.ts";
import { showTable, type Columns } from "../output/table.ts";
import { jsonOption, urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";

const columns: Columns<Operation> = {
  id: ({ id }) => id,
  kind: ({ kind }) => kind,
  status: ({ status }) => status,
  done: ({ done, total, total_complete }) => `${done}/${total}${total_complete ? "" : "+"}`,
  failed: ({ failed }) => String(failed),
  by: ({ created_by: { name, kind } }) => name ?? kind,
  started: ({ created_at }) => second(created_at),
  filter: ({ filter }) => JSON.stringify(filter),
};

export function defineOperations(command: Command, env: Env): void {
  command
    .command("list")
    .description("List bulk operations and replays, newest first.")
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json }) =>
      orExit(() =>
        withClient(env, { url }, async ({ operations }) => {
          const output = outputOf({ json });
          const { items } = await operations.list({ limit: limits.list_items_max });
          if (json) return writeJson(output, { items });
          if (items.length === 0) return output.tell("No operations\n");
          showTable(output, columns, items);
        }),
      ),
    );

  for (const [verb, description] of [
    ["get", "Show the progress of an operation."],
    ["cancel", "Stop an operation. Jobs that it has changed stay changed."],
  ] as const)
    command
      .command(verb)
      .description(description)
      .argument("<id>", "Operation ID")
      .addOption(urlOption())
      .addOption(jsonOption())
      .action((id, { url, json }) =>
        orExit(() =>
          withClient(env, { url }, async ({ operations }) => {
            const output = outputOf({ json });
            const operation = await operations[verb](id);
            if (json) return writeJson(output, operation);
            showTable(output, columns, [operation]);
          }),
        ),
      );
}
