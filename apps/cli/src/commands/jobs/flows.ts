import { flowStates, limits, type Flow, type FlowJob } from "@atlasqueue/contract";
import type { Client } from "@atlasqueue/client";
import { Option, type Command } from "@commander-js/extra-typings";
import type { Env } from "../../config.ts";
import { orExit } from "../../exit.ts";
import { treeOf } from "../../flows/tree.ts";
import { outputOf, writeJson, type Output } from "../../output/output.ts";
import { second } from "../../output/plain.ts";
import { showTable, type Columns } from "../../output/table.ts";
import { jsonOption, urlOption } from "../../remote/options.ts";
import { withClient } from "../../remote/with-client.ts";

const columns: Columns<Flow> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  ended: ({ jobs, counts }) => `${(counts.succeeded ?? 0) + (counts.dead ?? 0) + (counts.cancelled ?? 0)}/${jobs}`,
  dead: ({ counts }) => String(counts.dead ?? 0),
  cancelled: ({ counts }) => String(counts.cancelled ?? 0),
  created: ({ created_at }) => second(created_at),
  finished: ({ finished_at }) => second(finished_at),
};

const jobColumns: Columns<FlowJob> = {
  id: ({ id }) => id,
  ref: ({ ref }) => ref ?? "",
  type: ({ type }) => type,
  queue: ({ queue }) => queue,
  status: ({ status }) => status,
  "depends on": ({ depends_on }) => depends_on.join(","),
};

export function defineFlows(flows: Command, env: Env): void {
  flows
    .command("list")
    .description("List flows, newest first, with their progress.")
    .addOption(new Option("--state <state>", "Filter by state").choices(flowStates))
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ state, url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const filter = { ...(state && { state }), limit: limits.flows_listed_max };
          const page = await client.flows.list(filter);
          if (json) return writeJson(output, page);
          if (page.items.length === 0) return output.tell("No matching flows\n");
          showTable(output, columns, page.items);
        }),
      ),
    );

  flows
    .command("show")
    .description("Show a flow's jobs as a tree, and its critical path. On a pipe: a line for each job.")
    .argument("<id>", "Flow ID")
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((id, { url, json }) =>
      orExit(() => withClient(env, { url }, (client) => show(client, id, outputOf({ json })))),
    );

  for (const [verb, description] of [
    ["cancel", "Cancel the jobs of a flow that are not final."],
    ["retry", "Run the dead and cancelled jobs of a flow again."],
  ] as const)
    flows
      .command(verb)
      .description(description)
      .argument("<id>", "Flow ID")
      .addOption(urlOption())
      .addOption(jsonOption())
      .action((id, { url, json }) =>
        orExit(() =>
          withClient(env, { url }, async (client) => {
            const output = outputOf({ json });
            const answer = await client.flows[verb](id);
            if (json) return writeJson(output, answer);
            output.tell(`${answer.changed} jobs ${verb === "cancel" ? "cancelled" : "retried"}\n`);
            showTable(output, columns, [answer.flow]);
          }),
        ),
      );
}

async function show(client: Client, id: string, output: Output): Promise<void> {
  const first = await client.flows.get(id);
  if (output.json) return writeJson(output, first);
  const items = [...first.items];
  for (let cursor = first.next_cursor; cursor !== null;) {
    const page = await client.flows.get(id, { cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  if (!output.terminal) return showTable(output, jobColumns, items);
  showTable(output, columns, [first]);
  output.write(`\n${treeOf(items)}\n`);
  const names = new Map(items.map((job) => [job.id, job.ref ?? job.id.slice(-6)]));
  const path = first.critical_path ?? [];
  if (path.length > 1) output.write(`\nCritical path: ${path.map((one) => names.get(one)).join(" → ")}\n`);
}
