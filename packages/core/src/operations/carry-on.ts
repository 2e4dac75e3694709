import type { Deps } from "../deps.ts";
import { follow } from "../jobs/bulk.ts";
import type { SweepDeps } from "../maintenance/loop-deps.ts";
import { stepOperation, type OperationTurn } from "./step.ts";

/** Ids taken out of the Redis list together, as each removal goes over it from its old end. */
const unlisted_max = 5_000;

/**
 * Carries on with the operations of all tenants, page by page until none is due, or the page under way when stopped. The
 * tenants take turns, as `turn` remembers from one call to the next. Two processes at once do pages of different
 * operations. Rejects when a page fails; what was changed until then is followed up.
 * See decisions/2026-11-28-operations.md.
 *
 * @example
 * await carryOnOperations({ database, observe, followUps }, stop);
 */
export async function carryOnOperations(
  deps: Deps & Pick<SweepDeps, "followUps">,
  stop: AbortSignal,
  turn?: OperationTurn,
): Promise<void> {
  const unlisted: string[] = [];
  const step = () =>
    stepOperation(
      deps,
      async (changed) => {
        unlisted.push(...changed.were_dead);
        await follow(deps, { ...changed, were_dead: [] });
        if (unlisted.length >= unlisted_max) await deps.followUps.noLongerDead(unlisted.splice(0));
      },
      turn,
    );
  try {
    while (!stop.aborted && (await step()));
  } finally {
    await deps.followUps.noLongerDead(unlisted);
  }
}
