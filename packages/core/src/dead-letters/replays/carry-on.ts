import type { Deps } from "../../deps.ts";
import type { SweepDeps } from "../../maintenance/loop-deps.ts";
import type { OnRevived } from "../replay.ts";
import { stepReplay, type ReplayTurn } from "./step.ts";

/** Ids taken out of the Redis list together, as each removal goes over it from its old end. */
const unlisted_max = 5_000;

/**
 * Carries on with the replays of dead letters, whoever started them, page by page until none is due, or the page under
 * way when stopped. The tenants take turns, as `turn` remembers from one call to the next. Two processes at once do different pages. Rejects when a page fails; what was replayed until then
 * is followed up.
 *
 * @example
 * await carryOnReplays({ database, observe, followUps }, stop);
 */
export async function carryOnReplays(
  deps: Deps & Pick<SweepDeps, "followUps">,
  stop: AbortSignal,
  turn?: ReplayTurn,
): Promise<void> {
  const unlisted: string[] = [];
  const follow: OnRevived = async ({ ids, ready }) => {
    unlisted.push(...ids);
    await deps.followUps.retried({ ready, were_dead: [] });
    if (unlisted.length >= unlisted_max) await deps.followUps.noLongerDead(unlisted.splice(0));
  };
  try {
    while (!stop.aborted && (await stepReplay(deps, follow, turn)));
  } finally {
    await deps.followUps.noLongerDead(unlisted);
  }
}
