import { scenarios } from "../scenarios/index.ts";
import { checkTargets } from "../report/targets.ts";
import type { Result } from "../report/result.ts";

/**
 * The results of several runs on one commit as one, with the targets over all their figures. Figures of different
 * machines or versions have no ratio: a failure names each result that has others than the first.
 *
 * @example
 * const whole = mergeResults([addResult, processResult], "pnpm evidence v1.0.0");
 */
export function mergeResults(results: readonly Result[], command: string): Result {
  const inOrder = results.toSorted((a, b) => orderOf(a) - orderOf(b));
  const [first] = inOrder;
  if (!first) throw new Error("there is no result to merge");
  const rows = inOrder.flatMap((one) => one.rows);
  const sameAs = ({ machine, versions }: Result) => JSON.stringify([machine, versions]);
  const others = inOrder.filter((one) => sameAs(one) !== sameAs(first));
  return {
    ...first,
    command,
    started_at: inOrder.map(({ started_at }) => started_at).toSorted()[0] ?? first.started_at,
    finished_at:
      inOrder
        .map(({ finished_at }) => finished_at)
        .toSorted()
        .at(-1) ?? first.finished_at,
    rows,
    targets: checkTargets(rows),
    failures: [
      ...inOrder.flatMap(({ failures }) => failures),
      ...others.map((one) => `on another machine, or with other versions: ${one.command}`),
    ],
  };
}

const orderOf = ({ command }: Result) => scenarios.findIndex(({ name }) => command.includes(`--scenario ${name} `));
