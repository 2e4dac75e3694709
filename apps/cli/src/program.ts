import { readFileSync } from "node:fs";
import { Command } from "@commander-js/extra-typings";
import { addApi } from "./commands/api.ts";
import { addMigrate } from "./commands/migrate.ts";
import { addSchedules } from "./commands/schedules.ts";
import { addStart } from "./commands/start.ts";
import { addSubmit } from "./commands/submit.ts";
import { addTokens } from "./commands/tokens.ts";
import { addWorker } from "./commands/worker.ts";
import type { Env } from "./config.ts";
import { exitCodes } from "./exit.ts";

/**
 * The `atlasqueue` command. Each subcommand loads what it needs only when it runs.
 *
 * @example
 * await createProgram(process.env).parseAsync();
 */
export function createProgram(env: Env): Command {
  const program = new Command("atlasqueue")
    .description("A job queue that is durable like Postgres and wakes like Redis.")
    .version(version())
    .showHelpAfterError("(--help says more)")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? exitCodes.ok : exitCodes.usage))
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed (one line on stderr says why), 2 wrong usage.\n" +
        "Settings are environment variables; the README lists them.",
    );
  addStart(program, env);
  addApi(program, env);
  addWorker(program, env);
  addMigrate(program, env);
  addSubmit(program, env);
  addSchedules(program, env);
  addTokens(program, env);
  return program;
}

function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
