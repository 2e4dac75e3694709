import type { Command } from "@commander-js/extra-typings";
import { createProgram } from "../../cli/src/program.ts";
import { code } from "./table.ts";

/** A command without the program's name, such as `jobs list`, and the options it takes. */
export type CliCommand = { words: string; usage: string; about: string; options: string[] };

/** Every command that does something by itself, in the order of `--help`. */
export async function cliCommands(): Promise<CliCommand[]> {
  // These words load every command.
  return commandsOf(await createProgram({}, ["completion"]), "");
}

function commandsOf(command: Command, words: string): CliCommand[] {
  const path = `${words}${command.name()}`;
  const own = path.replace(/^atlasqueue ?/, "");
  const below = command.commands.flatMap((each) => commandsOf(each as Command, `${path} `));
  const args = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? "..." : "");
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const options = command.options.filter(({ hidden }) => !hidden).map(({ long, short }) => long ?? short ?? "");
  const self = { words: own, usage: [own, ...args].join(" "), about: command.description(), options };
  return own === "" || (below.length > 0 && options.length === 0) ? below : [self, ...below];
}

/** The commands with their options, one heading for each first word that has several. */
export function cliList(commands: readonly CliCommand[]): string {
  return commands
    .map(({ usage, about, options }) => {
      const told = options.filter((option) => !everywhere.includes(option));
      return `- ${code(usage)}: ${about}${told.length === 0 ? "" : ` Options: ${told.map(code).join(", ")}.`}`;
    })
    .join("\n");
}

/** Explained once, on the page. */
const everywhere = ["--url", "--json", "--yes"];
