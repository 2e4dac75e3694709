import { Command, InvalidArgumentError } from "@commander-js/extra-typings";
import type { Comparing } from "./compare/compare.ts";
import { quickScenarios, scenarios } from "./scenarios/index.ts";
import type { Effort } from "./scenarios/scenario.ts";
import { variants } from "./variants/index.ts";

export type BenchConfig = {
  scenarios: string[];
  variants: string[];
  rounds: number;
  effort: Effort;
  /** SQL that tries another index or storage setting without a migration. */
  after_migrate_file: string | undefined;
  json: string | undefined;
  markdown: string | undefined;
  chart: string | undefined;
  /** Measure nothing: say which pages quote figures of another commit than the results. */
  check: boolean;
  /** Two commits instead of the variants. */
  compare: Comparing | undefined;
};

/** What `--compare` measures unless told otherwise, and in how many pairs: an interval of 95 % takes six. */
const comparedScenarios = ["add-50", "bulk-add", "process"];
const default_pairs = 9;

type Preset = Required<Omit<Effort, "load_per_second">> & { rounds: number };
const full: Preset = {
  rounds: 3,
  jobs: 200_000,
  seconds_max: 5,
  idle_seconds: 60,
  history_rows: 20_000_000,
  backlog_rows: 1_000_000,
  snapshot_seconds: 600,
  sustain_seconds: 120,
  memory_jobs: 1_000_000,
  soak_minutes: 10,
};
const quick: Preset = {
  rounds: 1,
  jobs: 2_000,
  seconds_max: 1,
  idle_seconds: 5,
  history_rows: 100_000,
  backlog_rows: 10_000,
  snapshot_seconds: 10,
  sustain_seconds: 5,
  memory_jobs: 20_000,
  soak_minutes: 1,
};

/** What the command line asks for. A wrong option ends the process with a line that names what it takes. */
export function readBenchConfig(args: readonly string[]): BenchConfig {
  const names = (all: readonly { name: string }[]) => all.map(({ name }) => name);
  const command = new Command("pnpm bench")
    .description("Measure AtlasQueue beside other queues, on a PostgreSQL and two Redis servers that it starts itself.")
    .option("--quick", "under a minute: a few scenarios, one short round")
    .option("--scenario <name,…>", `only these: ${names(scenarios).join(", ")}`, oneOf(names(scenarios)))
    .option("--variant <name,…>", `only these: ${names(variants).join(", ")}`, oneOf(names(variants)))
    .option("--rounds <n>", `rounds of each variant (${full.rounds}; quick: ${quick.rounds})`, atLeastOne)
    .option("--jobs <n>", `jobs in one measurement (${full.jobs}; quick: ${quick.jobs})`, atLeastOne)
    .option("--idle-seconds <n>", asked("how long `idle` watches", "idle_seconds"), atLeastOne)
    .option("--history-rows <n>", asked("succeeded jobs before `history`", "history_rows"), atLeastOne)
    .option("--backlog-rows <n>", asked("queued jobs before `history`", "backlog_rows"), atLeastOne)
    .option("--snapshot-seconds <n>", asked("how long `snapshot` holds one", "snapshot_seconds"), atLeastOne)
    .option("--sustain-seconds <n>", asked("a window of `mixed` and `same-load`", "sustain_seconds"), atLeastOne)
    .option("--memory-jobs <n>", asked("jobs of `memory`", "memory_jobs"), atLeastOne)
    .option("--minutes <n>", asked("how long `soak` goes on", "soak_minutes"), atLeastOne)
    .option("--json <file>", "write the figures, every round, as JSON")
    .option("--markdown <file>", "also write the tables to a file")
    .option("--chart <file>", "write a chart as SVG")
    .option("--compare <commits...>", "instead of the variants, two commits in turns: A B")
    .option("--pairs <n>", `measurements of each commit (${default_pairs})`, atLeastOne)
    .option("--check", "measure nothing: fail if a page quotes figures of another commit than RESULTS.md", false)
    .parse(args, { from: "user" });
  const options = command.opts();
  if (options.compare && options.compare.length !== 2)
    command.error(`error: --compare takes two commits, not ${options.compare.length}.`);
  if (options.compare && (options.variant ?? options.chart ?? options.rounds) !== undefined)
    command.error("error: --variant, --chart and --rounds don't go with --compare: it measures pairs of our own.");
  if (!options.compare && options.pairs !== undefined) command.error("error: --pairs goes with --compare only.");
  const { rounds, ...preset } = options.quick ? quick : full;
  const effort: Effort = {
    jobs: options.jobs ?? preset.jobs,
    seconds_max: preset.seconds_max,
    idle_seconds: options.idleSeconds ?? preset.idle_seconds,
    history_rows: options.historyRows ?? preset.history_rows,
    backlog_rows: options.backlogRows ?? preset.backlog_rows,
    snapshot_seconds: options.snapshotSeconds ?? preset.snapshot_seconds,
    sustain_seconds: options.sustainSeconds ?? preset.sustain_seconds,
    memory_jobs: options.memoryJobs ?? preset.memory_jobs,
    soak_minutes: options.minutes ?? preset.soak_minutes,
  };
  const [a, b] = options.compare ?? [];
  const after_migrate_file = process.env["BENCH_AFTER_MIGRATE"];
  return {
    scenarios: options.scenario ?? [...(options.quick ? quickScenarios : names(scenarios))],
    variants: options.variant ?? names(variants),
    rounds: options.rounds ?? rounds,
    effort,
    after_migrate_file,
    json: options.json,
    markdown: options.markdown,
    chart: options.chart,
    check: options.check,
    compare:
      a !== undefined && b !== undefined
        ? {
            a,
            b,
            scenarios: options.scenario ?? comparedScenarios,
            pairs: options.pairs ?? default_pairs,
            effort,
            after_migrate_file,
          }
        : undefined,
  };
}

function asked(what: string, of: keyof Preset): string {
  return `${what} (${full[of].toLocaleString("en")}; quick: ${quick[of].toLocaleString("en")})`;
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
