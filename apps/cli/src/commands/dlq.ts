import { limits } from "@atlasqueue/contract";
import { Option, type Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { change, choiceOf, groups, list } from "../dlq/actions.ts";
import { orExit } from "../exit.ts";
import { outputOf } from "../output/output.ts";
import { jsonOption, parseIds, parseQueue, urlOption, yesOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";
import { integer, parseTag } from "../submit/job-fields.ts";

const jobs_max = 100_000;

export function defineDlq(dlq: Command, env: Env): void {
  dlq
    .command("list")
    .description("List dead letters, most recently dead first.")
    .option("--queue <name>", "Filter by queue", parseQueue)
    .option("--type <type>", "Filter by type")
    .option("--fingerprint <hex>", "Filter by error, as `dlq groups` shows it")
    .option("--limit <n>", "How many to list", (text) => integer(text, 1, jobs_max), limits.list_items_default)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json, ...filter }) =>
      orExit(() => withClient(env, { url }, (client) => list(client, filter, outputOf({ json })))),
    );

  dlq
    .command("groups")
    .description("Group dead letters by type and error: how many, first and last.")
    .option("--type <type>", "Filter by type")
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json, ...filter }) =>
      orExit(() => withClient(env, { url }, (client) => groups(client, filter, outputOf({ json })))),
    );

  for (const [verb, description] of [
    ["replay", "Re-queue dead letters, now and with all their attempts."],
    ["purge", "Delete dead letters for good. Asks before it does."],
  ] as const) {
    const command = dlq
      .command(verb)
      .description(description)
      .argument("[id...]", "Job IDs", parseIds)
      .option("--queue <name>", "Filter by queue", parseQueue)
      .option("--type <type>", "Filter by type")
      .option("--tag <tag>", "Filter by tag", parseTag)
      .option("--fingerprint <hex>", "Filter by error, as `dlq groups` shows it")
      .option("--all", "All jobs", false)
      .addOption(new Option("--dry-run", "Count them, and change nothing").default(false))
      // A replay does not ask, so that its `--yes` does nothing.
      .addOption(yesOption().hideHelp(verb === "replay"))
      .addOption(urlOption())
      .addOption(jsonOption());
    command.action((ids, { queue, type, tag, fingerprint, all, dryRun, yes, url, json }) =>
      orExit(() => {
        const choice = choiceOf({ ids: ids ?? [], queue, type, tag, fingerprint, all });
        if (!choice) return command.error("Give either ids, or --queue, --type, --tag and --fingerprint, or --all.");
        const wish = { verb, choice, dry_run: dryRun, yes: yes || verb === "replay" };
        return withClient(env, { url }, (client) => change(client, wish, outputOf({ json })));
      }),
    );
  }
}
