import { Command } from "@commander-js/extra-typings";
import { commands } from "./commands/table.ts";
import type { Env } from "./config.ts";
import { exitCodes, exitCodesText } from "./exit.ts";
import { version } from "./version.ts";

/**
 * The `atlasqueue` command, for these words of a command line: the subcommand they name is loaded; of the others only
 * the name is known.
 *
 * @example
 * const words = process.argv.slice(2);
 * await (await createProgram(process.env, words)).parseAsync(words, { from: "user" });
 */
export async function createProgram(env: Env, words: readonly string[]): Promise<Command> {
  const program = new Command("atlasqueue")
    .description("A background job queue for teams that run PostgreSQL.")
    .version(version())
    .showHelpAfterError("(see --help)")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? exitCodes.ok : exitCodes.usage))
    .addHelpText(
      "after",
      `\n${exitCodesText}\nSettings are environment variables. The API lists them at /guide/reference/settings.`,
    );
  const asked = askedOf(words);
  const completes = asked === "completion" || asked === "complete";
  for (const [name, { group, about, load }] of Object.entries(commands)) {
    const command = program.command(name).description(about).helpGroup(`${group}:`);
    if (completes || name === asked) (await load())(command, env);
  }
  if (completes) (await import("./commands/completion.ts")).addCompletion(program);
  else program.command("completion").description("Print a script for bash, zsh, fish or powershell.");
  return program;
}

/**
 * The subcommand: the first word that is not an option, as the program's own options take no values; after `help`, the
 * next one.
 */
function askedOf(words: readonly string[]): string | undefined {
  const [first, second] = words.filter((word) => !word.startsWith("-"));
  return first === "help" ? second : first;
}
