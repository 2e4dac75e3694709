import tab from "@bomb.sh/tab/commander";
import type { Command } from "@commander-js/extra-typings";
import type { Command as PlainCommand } from "commander";

/**
 * `completion SHELL` prints a script that asks this very program, so it knows every command and option. Added last, as
 * it looks at the others.
 */
export function addCompletion(program: Command): void {
  tab(program as unknown as PlainCommand, { completionCommandName: "completion" });
}
