import type { Command } from "@commander-js/extra-typings";
import { readApiToken, readApiUrl, type Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { importQueue } from "./import.ts";
import type { Source } from "./source.ts";
import { jsonOption, parseQueue, urlOption } from "../remote/options.ts";

const patience_ms = 60_000;
const dryRunOption = ["--dry-run", "Only count what would be imported, and what would not"] as const;
const help =
  "\nNothing is changed at the source. Each job gets a key made from its old id, so a second run adds nothing. Exit code 1:\n" +
  "something stays at the source, and the output says why.";

type Chosen = { url?: string | undefined; json: boolean; dryRun?: true | undefined };

export function defineImport(command: Command, env: Env): void {
  const run = ({ url, json, dryRun }: Chosen, open: () => Source | Promise<Source>) =>
    orExit(async () => {
      const target = { url: url ?? readApiUrl(env), token: readApiToken(env), patience_ms };
      const write = (text: string) => void process.stdout.write(text);
      const options = { target, dry_run: dryRun === true, json, write };
      process.exitCode = await importQueue({ source: await open(), ...options });
    });
  command
    .command("bullmq")
    .description("Import the jobs that wait in a BullMQ queue, and its job schedulers.")
    .requiredOption("--redis <url>", "Address of BullMQ's Redis")
    .requiredOption("--queue <name>", "Name of the queue, there and here", parseQueue)
    .option("--prefix <text>", "BullMQ's prefix", "bull")
    .option(...dryRunOption)
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText("after", help)
    .action(({ redis, queue, prefix, ...chosen }) =>
      run(chosen, async () => (await import("./bullmq.ts")).bullmqSource(redis, queue, prefix)),
    );
  command
    .command("pg-boss")
    .description("Import the jobs that wait in pg-boss, and its schedules.")
    .requiredOption("--database <url>", "Address of pg-boss's database")
    .option("--schema <name>", "pg-boss's schema", "pgboss")
    .option("--queue <name>", "Only this queue", parseQueue)
    .option(...dryRunOption)
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText("after", help)
    .action(({ database, schema, queue, ...chosen }) =>
      run(chosen, async () => (await import("./pg-boss.ts")).pgBossSource(database, schema, queue)),
    );
}
