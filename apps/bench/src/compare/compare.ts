import { readMachine } from "../report/circumstances.ts";
import { startChild, type Child } from "../run/child.ts";
import { measureOnce, told } from "../run/rounds.ts";
import { startServers, type Servers } from "../run/servers.ts";
import { scenarios } from "../scenarios/index.ts";
import type { Effort, Scenario } from "../scenarios/scenario.ts";
import { checkOut, CompareError, findCommit, type Checkouts } from "./checkouts.ts";
import { ratiosOf, type Comparison, type Pair } from "./comparison.ts";
import { createEnding } from "./ending.ts";

export type Comparing = {
  a: string;
  b: string;
  scenarios: string[];
  pairs: number;
  effort: Effort;
  after_migrate_file: string | undefined;
};

const sides = ["a", "b"] as const;
/** The variant that each commit has of itself. */
const ours = { name: "atlasqueue" };

/**
 * Measure two commits in turns, A B B A A B …, on the same servers, each run on a new database and each commit in a
 * process of its own that lives for the scenario: the scenarios of this checkout with the variants of the commit. What was made is removed, whatever happens. Throws a `CompareError`
 * when there is no such commit or it can't be installed.
 */
export async function compare(
  { a, b, scenarios: names, pairs, effort, after_migrate_file }: Comparing,
  command: string,
  tell: (line: string) => void,
): Promise<Comparison> {
  const started_at = new Date().toISOString();
  const commits = [await findCommit(a), await findCommit(b)] as const;
  const ending = createEnding();
  try {
    const checkouts = await checkOut(...commits, ending, tell);
    const servers = await startServers(after_migrate_file);
    ending.add(() => servers.stop());
    const measured: Pair[] = [];
    const failures: string[] = [];
    for (const scenario of scenarios.filter(({ name }) => names.includes(name)))
      measured.push(...(await inTurns({ servers, checkouts, scenario, pairs, effort, failures, tell })));
    return {
      command,
      started_at,
      finished_at: new Date().toISOString(),
      machine: readMachine(),
      a: commits[0],
      b: commits[1],
      jobs: effort.jobs,
      ratios: ratiosOf(measured),
      failures,
    };
  } finally {
    await ending.run();
  }
}

type Turns = {
  servers: Servers;
  checkouts: Checkouts;
  scenario: Scenario;
  pairs: number;
  effort: Effort;
  failures: string[];
  tell(line: string): void;
};

async function inTurns({ servers, checkouts, scenario, pairs, effort, failures, tell }: Turns): Promise<Pair[]> {
  const children = new Map<"a" | "b", Child>();
  const measured: Pair[] = [];
  const measure = async (side: "a" | "b", load_per_second: number | undefined) => {
    const child = children.get(side) ?? startChild(checkouts[side].variants);
    children.set(side, child);
    const asked = { ...effort, ...(load_per_second !== undefined && { load_per_second }) };
    return measureOnce(servers, child, { scenario, variant: ours, effort: asked });
  };
  try {
    for (let number = 1; number <= pairs; number += 1) {
      const pair: Pair = { a: [], b: [] };
      try {
        let load_per_second: number | undefined;
        // Whoever goes first finds a warmer or a colder machine: each does so as often. Its load is the other's too.
        for (const side of number % 2 === 1 ? sides : sides.toReversed()) {
          pair[side] = await measure(side, load_per_second);
          load_per_second = scenario.loadOf?.(pair[side]);
        }
        measured.push(pair);
        for (const side of sides)
          tell(`${scenario.name} ${number}/${pairs} ${side.toUpperCase()}: ${pair[side].map(told).join(", ")}`);
      } catch (error) {
        const failure = `${scenario.name} ${number}/${pairs} failed: ${String(error)}`;
        failures.push(failure);
        tell(failure);
        for (const child of children.values()) child.stop();
        children.clear();
        // What can't be measured once won't be the next time.
        if (measured.length === 0) throw new CompareError(failure);
      }
    }
  } finally {
    for (const child of children.values()) child.stop();
  }
  return measured;
}
