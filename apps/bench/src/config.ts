import { Command, InvalidArgumentError } from "@commander-js/extra-typings";
import { quickScenarios, scenarios } from "./scenarios/index.ts";
import type { Effort } from "./scenarios/scenario.ts";
import { variants } from "./variants/index.ts";

export type BenchConfig = {
  scenarios: string[];
  variants: string[];
  rounds: number;
  effort: Effort;
  json: string | undefined;
  markdown: string | undefined;
  chart: string | undefined;
};

const full = { rounds: 3, jobs: 20_000, seconds_max: 5 };
const quick = { rounds: 1, jobs: 5_000, seconds_max: 1 };

/** What the command line asks for. A wrong option ends the process with a line that names what it takes. */
export function readBenchConfig(args: readonly string[]): BenchConfig {
  const names = (all: readonly { name: string }[]) => all.map(({ name }) => name);
  const options = new Command("pnpm bench")
    .description("Measure AtlasQueue beside other queues, on a PostgreSQL and two Redis that it starts itself.")
    .option("--quick", "under a minute: a few scenarios, one short round")
    .option("--scenario <name,…>", `only these: ${names(scenarios).join(", ")}`, oneOf(names(scenarios)))
    .option("--variant <name,…>", `only these: ${names(variants).join(", ")}`, oneOf(names(variants)))
    .option("--rounds <n>", `rounds of each variant (${full.rounds}; quick: ${quick.rounds})`, atLeastOne)
    .option("--jobs <n>", `jobs in one measurement (${full.jobs}; quick: ${quick.jobs})`, atLeastOne)
    .option("--json <file>", "write the figures, every round of them, as JSON")
    .option("--markdown <file>", "write the tables to a file as well")
    .option("--chart <file>", "write a chart as SVG")
    .parse(args, { from: "user" })
    .opts();
  const preset = options.quick ? quick : full;
  return {
    scenarios: options.scenario ?? [...(options.quick ? quickScenarios : names(scenarios))],
    variants: options.variant ?? names(variants),
    rounds: options.rounds ?? preset.rounds,
    effort: { jobs: options.jobs ?? preset.jobs, seconds_max: preset.seconds_max },
    json: options.json,
    markdown: options.markdown,
    chart: options.chart,
  };
}

function oneOf(known: readonly string[]): (text: string) => string[] {
  return (text) => {
    const names = text.split(",").map((name) => name.trim());
    const wrong = names.find((name) => !known.includes(name));
    if (wrong !== undefined) throw new InvalidArgumentError(`${wrong} is none of ${known.join(", ")}.`);
    return names;
  };
}

function atLeastOne(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("It takes a whole number from 1.");
  return number;
}
