import { Trouble } from "../exit.ts";

/**
 * Ask before something that cannot be undone; throws `Trouble` unless the answer is yes. Where there is no one to ask,
 * only `--yes` counts.
 *
 * @example
 * await sure("Delete 17 dead jobs for good?", options.yes);
 */
export async function sure(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new Trouble(`${question} Not a terminal. Re-run with --yes to confirm.`);
  const { default: confirm } = await import("@inquirer/confirm");
  // On stderr, as stdout may go into a file. Ctrl-C is a no.
  const answer = await confirm({ message: question, default: false }, { output: process.stderr }).catch(() => false);
  if (!answer) throw new Trouble("Nothing was changed.");
}
