import { submission } from "@atlasqueue/harness";
import { expect } from "vitest";
import { countDrift } from "../src/counts/job-checks.ts";
import { foldCounts } from "../src/counts/fold.ts";
import type { Deps } from "../src/deps.ts";
import type { FlowJob } from "../src/flows/flow.ts";
import type { Lease } from "../src/lease/lease.ts";
import { completeWithChildren, type Spawned } from "../src/settle/complete-with-children.ts";
import { advanceAndAdmit } from "./advance.ts";
import { engineHarness } from "./engine-harness.ts";

const child = (ties: Partial<FlowJob> = {}, request: Parameters<typeof submission>[0] = {}): FlowJob => ({
  ...submission(request),
  ...ties,
});

/**
 * `engineHarness` for jobs that add others. `add` adds one.
 *
 * @example
 * const { add, child, spawn, take } = spawnHarness();
 */
export function spawnHarness() {
  const engine = engineHarness();
  const { deps } = engine;
  const spawn = (lease: Lease, children: FlowJob[], more: Partial<Spawned> & { database?: Deps["database"] } = {}) =>
    completeWithChildren(
      { ...deps, database: more.database ?? deps.database },
      { lease, result: { from: lease.id } },
      { children, dependants_wait: more.dependants_wait ?? false },
    );
  return {
    ...engine,
    child,
    add: async (request: Parameters<typeof submission>[0] = {}): Promise<string> =>
      (await engine.add(request))[0] ?? "",
    spawn,
    async spawned(lease: Lease, children: FlowJob[], more: Partial<Spawned> = {}): Promise<string[]> {
      const outcome = await spawn(lease, children, more);
      if (outcome.kind !== "applied") throw new Error(`not applied: ${JSON.stringify(outcome)}`);
      return outcome.children.flatMap((one) => ("job" in one ? [one.job.id] : []));
    },
    advance: async () => void (await advanceAndAdmit(deps)),
    jobs: async () => (await deps.database.sql`SELECT FROM atlasqueue.jobs`).length,
    async edges() {
      const rows = await deps.database
        .sql`SELECT parent, child, on_parent_failure FROM atlasqueue.flow_edges ORDER BY child, parent`;
      return rows.map(({ parent, child: of, on_parent_failure }) => [parent, of, on_parent_failure] as string[]);
    },
    async countsAreTrue() {
      while ((await foldCounts(deps, 1_000)) > 0);
      expect((await countDrift(deps, 10_000)).drifted).toEqual([]);
    },
  };
}
