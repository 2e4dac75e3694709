import { isUnavailable } from "../../database/errors.ts";
import type { SweepDeps } from "../../maintenance/loop-deps.ts";
import { takeTurn } from "../../maintenance/take-turn.ts";
import { pause } from "../../pause.ts";
import type { OnRevived } from "../replay.ts";
import { stepReplay } from "./step.ts";

/** How soon a replay is noticed that was made, or let go on, elsewhere; one process of the fleet looks. */
const look_ms = 1_000;
/** Ids taken out of the Redis list together, as each removal goes over it from its old end. */
const unlisted_max = 5_000;

/**
 * Carries on with the replays of dead letters, whoever started them, page by page until none is due. Every process that
 * sweeps runs it; two at once do different pages. Resolves after the page under way when stopped.
 */
export async function carryOnReplays(deps: SweepDeps, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      if (await takeTurn(deps, "replays", look_ms)) await carryOn(deps, stop);
    } catch (error) {
      if (isUnavailable(error))
        deps.observe({ event: "database_unavailable", during: "replaying", error: String(error) });
      else deps.logger.error({ err: error }, "replay_failed");
    }
    await pause(look_ms, stop);
  }
}

async function carryOn(deps: SweepDeps, stop: AbortSignal): Promise<void> {
  const unlisted: string[] = [];
  const follow: OnRevived = async ({ ids, ready }) => {
    unlisted.push(...ids);
    await deps.followUps.retried({ ready, were_dead: [] });
    if (unlisted.length >= unlisted_max) await deps.followUps.noLongerDead(unlisted.splice(0));
  };
  try {
    while (!stop.aborted && (await stepReplay(deps, follow)));
  } finally {
    await deps.followUps.noLongerDead(unlisted);
  }
}
