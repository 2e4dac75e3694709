import { limits, type Replay } from "@atlasqueue/contract";
import { InvalidArgumentError, Option, type Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { choiceOf } from "../dlq/actions.ts";
import { orExit } from "../exit.ts";
import { outputOf, writeJson, type Output } from "../output/output.ts";
import { plainJson, second } from "../output/plain.ts";
import { showTable, type Columns } from "../output/table.ts";
import { jsonOption, parseQueue, urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";
import { parseTag } from "../submit/job-fields.ts";
import { parseObject } from "../submit/parse-object.ts";

const columns: Columns<Replay> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  replayed: ({ replayed, matched, matched_complete }) => `${replayed}/${matched}${matched_complete ? "" : "+"}`,
  "left over": ({ left_over }) => String(left_over),
  rate: ({ rate }) => (rate === null ? "" : `${rate}/s`),
  by: ({ created_by: { name, kind } }) => name ?? kind,
  started: ({ created_at }) => second(created_at),
  filter: ({ filter }) => JSON.stringify(filter),
};

export function defineReplays(command: Command, env: Env): void {
  command
    .command("start")
    .description("Re-queue dead letters in the background, with a rate and a patch of their payloads.")
    .option("--queue <name>", "Filter by queue", parseQueue)
    .option("--type <type>", "Filter by type")
    .option("--tag <tag>", "Filter by tag", parseTag)
    .option("--fingerprint <hex>", "Filter by error, as `dlq groups` shows it")
    .option("--all", "All jobs", false)
    .option("--patch <json>", "JSON merged into each payload; null removes a field", parseObject)
    .option("--rate <n>", "Jobs a second (default: as fast as possible)", parseRate)
    .addOption(new Option("--dry-run", "Count them, show one with the patch, and change nothing").default(false))
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ queue, type, tag, fingerprint, all, patch, rate, dryRun, url, json }) =>
      orExit(() => {
        const filter = choiceOf({ ids: [], queue, type, tag, fingerprint, all });
        if (!filter) return command.error("Give either --queue, --type, --tag or --fingerprint, or --all.");
        const wish = { filter: filter as object, ...(patch && { patch }), ...(rate && { rate }) };
        return withClient(env, { url }, async ({ deadLetters: { replays } }) => {
          const output = outputOf({ json });
          if (!dryRun) return show(output, await replays.create(wish));
          const preview = await replays.preview(wish);
          if (json) return writeJson(output, preview);
          output.tell(`${preview.matched}${preview.complete ? "" : " or more"} would be queued again\n`);
          if (preview.sample && patch) output.write(`${plainJson(preview.sample.after)}\n`);
        });
      }),
    );

  command
    .command("list")
    .description("List the replays, newest first.")
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json }) =>
      orExit(() =>
        withClient(env, { url }, async ({ deadLetters: { replays } }) => {
          const output = outputOf({ json });
          const { items } = await replays.list({ limit: limits.list_items_max });
          if (json) return writeJson(output, { items });
          if (items.length === 0) return output.tell("No replays\n");
          showTable(output, columns, items);
        }),
      ),
    );

  for (const [verb, description] of [
    ["get", "Show the progress of a replay."],
    ["pause", "Pause a replay."],
    ["resume", "Resume a paused replay."],
    ["cancel", "Cancel a replay. The remaining jobs stay dead."],
  ] as const)
    command
      .command(verb)
      .description(description)
      .argument("<id>", "Replay ID")
      .addOption(urlOption())
      .addOption(jsonOption())
      .action((id, { url, json }) =>
        orExit(() =>
          withClient(env, { url }, async ({ deadLetters: { replays } }) =>
            show(outputOf({ json }), await replays[verb](id)),
          ),
        ),
      );
}

function show(output: Output, replay: Replay): void {
  if (output.json) return writeJson(output, replay);
  showTable(output, columns, [replay]);
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (rate >= limits.replay_rate_min && rate <= limits.replay_rate_max) return rate;
  throw new InvalidArgumentError(`must be a number from ${limits.replay_rate_min} to ${limits.replay_rate_max}`);
}
