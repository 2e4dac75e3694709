import { createEnding } from "./compare/ending.ts";
import type { BenchConfig } from "./config.ts";
import { readMachine, readVersions } from "./report/circumstances.ts";
import type { Titles } from "./report/markdown.ts";
import type { Result } from "./report/result.ts";
import { checkTargets } from "./report/targets.ts";
import { runRounds } from "./run/rounds.ts";
import { startServers } from "./run/servers.ts";
import { scenarios } from "./scenarios/index.ts";
import { variants } from "./variants/index.ts";

export const titles: Titles = Object.fromEntries(variants.map(({ name, title }) => [name, title]));

/** Start the servers, measure, compare with the targets. Each run's figures are printed as they come in. */
export async function bench(config: BenchConfig, command: string, tell: (line: string) => void): Promise<Result> {
  const started_at = new Date().toISOString();
  const servers = await startServers(config.after_migrate_file);
  const ending = createEnding();
  ending.add(() => servers.stop());
  try {
    const plan = {
      scenarios: scenarios.filter(({ name }) => config.scenarios.includes(name)),
      variants: variants.filter(({ name }) => config.variants.includes(name)),
      rounds: config.rounds,
      effort: config.effort,
    };
    const { rows, failures } = await runRounds(servers, plan, tell);
    return {
      command,
      started_at,
      finished_at: new Date().toISOString(),
      machine: readMachine(),
      versions: readVersions(servers.versions),
      rounds: config.rounds,
      jobs: config.effort.jobs,
      rows,
      targets: checkTargets(rows),
      failures,
    };
  } finally {
    await ending.run();
  }
}
