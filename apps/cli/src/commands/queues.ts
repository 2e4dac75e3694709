import { limits as bounds, type HeldGroup, type QueueScaling } from "@atlasqueue/contract";
import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { outputOf, writeJson } from "../output/output.ts";
import { second } from "../output/plain.ts";
import { showTable, type Columns } from "../output/table.ts";
import { queueColumns } from "../queues/columns.ts";
import { defaultFields, defaultOptions, defaultsText } from "../queues/defaults.ts";
import { limitFields, limitOptions, limitsText } from "../queues/limits.ts";
import { jsonOption, parseQueue, parseQueues, urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";

const groupColumns: Columns<HeldGroup> = {
  group: ({ group }) => group,
  "held by": ({ held_by: { id } }) => id,
  status: ({ held_by: { status } }) => status,
  since: ({ held_by: { since } }) => second(since),
  waiting: ({ blocked, blocked_complete }) => (blocked_complete ? String(blocked) : `${blocked}+`),
};

const scalingColumns: Columns<QueueScaling> = {
  queue: ({ queue }) => queue,
  ready: ({ ready }) => String(ready),
  running: ({ running }) => String(running),
  backlog: ({ backlog }) => String(backlog),
  "oldest ready": ({ oldest_ready_seconds }) => `${Math.round(oldest_ready_seconds)} s`,
  workers: ({ workers }) => String(workers ?? "?"),
  slots: ({ slots }) => String(slots ?? "?"),
};

export function defineQueues(queues: Command, env: Env): void {
  queues
    .command("list")
    .description("List queues with their jobs by status, and how long the oldest has waited.")
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const items = await client.queues();
          if (json) return writeJson(output, { items });
          if (items.length === 0) return output.tell("there are no queues yet; a queue appears with its first job\n");
          showTable(output, queueColumns, items);
        }),
      ),
    );

  queues
    .command("groups")
    .description("List the groups in progress of a queue: the current job, and how many wait.")
    .argument("<queue>", "Queue name", parseQueue)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((queue, { url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const { items } = await client.heldGroups(queue, { limit: bounds.list_items_max });
          if (json) return writeJson(output, { items });
          if (items.length === 0) return output.tell("No groups in progress\n");
          showTable(output, groupColumns, items);
        }),
      ),
    );

  queues
    .command("scaling")
    .description("Show a queue's numbers for autoscaling: backlog, oldest ready job, workers.")
    .argument("<queue>", "Queue name", parseQueue)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((queue, { url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const figures = await client.scaling(queue);
          if (json) writeJson(output, figures);
          else showTable(output, scalingColumns, [figures]);
        }),
      ),
    );

  for (const [verb, done, description] of [
    ["pause", "paused", "Pause queues. Jobs are still accepted, and running jobs go on."],
    ["resume", "open", "Resume paused queues."],
  ] as const)
    queues
      .command(verb)
      .description(description)
      .argument("<queue...>", "Queue names", parseQueues)
      .addOption(urlOption())
      .addOption(jsonOption())
      .action((names, { url, json }) =>
        orExit(() =>
          withClient(env, { url }, async (client) => {
            const output = outputOf({ json });
            const items = [];
            for (const name of names) {
              const queue = await client[verb](name);
              items.push(queue);
              // It may be misspelt: a queue is there as soon as it is named.
              const jobless = Object.values(queue.counts).every((count) => count === 0);
              if (!json) output.tell(`${name} is ${done}${jobless ? ", and has no jobs" : ""}\n`);
            }
            if (json) writeJson(output, { items });
          }),
        ),
      );

  queues
    .command("limits")
    .description("Show a queue's limits, or change those given; the others stay.")
    .argument("<queue>", "Queue name", parseQueue)
    .addOption(limitOptions.concurrency())
    .addOption(limitOptions.groupConcurrency())
    .addOption(limitOptions.rate())
    .addOption(limitOptions.groupRate())
    .addOption(limitOptions.fairBy())
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nJobs of one group run one at a time, in order, unless --group-concurrency is higher.")
    .action((name, { url, json, ...flags }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const now = (await client.queues()).find(({ queue }) => queue === name)?.limits ?? {};
          const given = limitFields(flags);
          const change = Object.keys(given).length > 0;
          const limits = change ? (await client.setLimits(name, { ...now, ...given })).limits : now;
          if (json) writeJson(output, { queue: name, limits });
          else output.write(`${name}\t${limitsText(limits) || "no limits"}\n`);
        }),
      ),
    );

  queues
    .command("defaults")
    .description("Show a queue's defaults for jobs, or change those given; the others stay.")
    .argument("<queue>", "Queue name", parseQueue)
    .addOption(defaultOptions.maxAttempts())
    .addOption(defaultOptions.backoff())
    .addOption(defaultOptions.timeout())
    .addOption(defaultOptions.retention())
    .addOption(defaultOptions.resultTtl())
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nThey hold for new jobs that name no value of their own. The value none removes one.")
    .action((name, { url, json, ...flags }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const now = (await client.queues()).find(({ queue }) => queue === name)?.defaults ?? {};
          const given = defaultFields(flags);
          const change = Object.keys(given).length > 0;
          const defaults = change ? (await client.setDefaults(name, { ...now, ...given })).defaults : now;
          if (json) writeJson(output, { queue: name, defaults });
          else output.write(`${name}\t${defaultsText(defaults) || "no defaults"}\n`);
        }),
      ),
    );
}
