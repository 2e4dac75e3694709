import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError } from "@commander-js/extra-typings";
import { cards } from "./faults/plan.ts";

export type FaultsConfig = {
  seeds: number[];
  /** Of load and faults, for each seed. */
  load_ms: number;
  quiet_ms_max: number;
  folder: string;
  /** Jobs a second. */
  rate: number;
  synchronous: boolean;
  /** Only these kinds of faults; all, if undefined. */
  faults: string[] | undefined;
};

const names = cards.map(({ name }) => name);

/** What the command line asks for. A wrong option ends the process with a line that names what it takes. */
export function readFaultsConfig(args: readonly string[]): FaultsConfig {
  const options = new Command("pnpm faults")
    .description(
      "Run the whole system under load, break it in ways drawn from a seed, and check what became of each job.",
    )
    .option("--seed <n,…>", "the seeds, one run after another", wholeNumbers, [1])
    .option("--minutes <n>", "of load and faults, all seeds together", positive, 1.5)
    .option("--quiet <seconds>", "without faults, at most, for what is left to end", positive, 60)
    .option("--rate <n>", "jobs a second", positive, 250)
    .option(
      "--out <folder>",
      "for the histories, the programs' output and the report, in place of an earlier run's (default: a temporary one)",
    )
    .option("--asynchronous", "commits don't wait for the standby: a failover may lose what was accepted", false)
    .option("--faults <name,…>", `only these: ${names.join(", ")}`, known)
    .parse(args, { from: "user" })
    .opts();
  return {
    seeds: options.seed,
    load_ms: (options.minutes * 60_000) / options.seed.length,
    quiet_ms_max: options.quiet * 1_000,
    folder: options.out === undefined ? mkdtempSync(join(tmpdir(), "faults-")) : resolve(options.out),
    rate: options.rate,
    synchronous: !options.asynchronous,
    faults: options.faults,
  };
}

function known(text: string): string[] {
  const wanted = text.split(",");
  const wrong = wanted.find((name) => !names.includes(name));
  if (wrong !== undefined) throw new InvalidArgumentError(`${wrong} is none of ${names.join(", ")}.`);
  return wanted;
}

function wholeNumbers(text: string): number[] {
  const numbers = text.split(",").map(Number);
  if (text === "" || numbers.some((number) => !Number.isSafeInteger(number) || number < 0))
    throw new InvalidArgumentError("It takes whole numbers, separated by commas.");
  return [...new Set(numbers)];
}

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0) || !Number.isFinite(number)) throw new InvalidArgumentError("It takes a number above 0.");
  return number;
}
