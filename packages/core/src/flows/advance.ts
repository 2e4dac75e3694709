import type { Deps } from "../deps.ts";
import type { Pass } from "../maintenance/advancer.ts";
import { announce, hint } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import type { ArrivalLine } from "../submit/arrivals/line.ts";
import { closeEdges } from "./close-edges.ts";
import type { NotePlace } from "./notes-page.ts";
import { releaseChildren } from "./release-children.ts";

/** Those in groups are not waited for: somebody may hold the row of a group. */
type AdvancingDeps = Deps & { signal: Signal; followUps: Pick<ArrivalLine, "arrived"> };

const notes_max = 500;
/** Pairs of statements in one go, leaving a sweep time for its other duties. */
const rounds_max = 50;
/** Notes in one go of jobs that others have locked. */
const vain_max = 2_000;

/** Where the looks of the next pass go on. */
export type FlowsCursor = { parents: readonly NotePlace[]; children: readonly NotePlace[] };

export const newFlowsCursor = (): FlowsCursor => ({ parents: [], children: [] });

/**
 * Let the children hear of the parents that ended or started anew, and signal those that are ready, until no note is
 * left that can be dealt with now. Where others have locked very many jobs, a pass tries some of their notes, and the next
 * one goes on from the cursor: round and round.
 *
 * @example
 * const { more } = await advanceFlows(deps, cursor);
 */
export async function advanceFlows(deps: AdvancingDeps, cursor = newFlowsCursor()): Promise<Pass> {
  let vain = 0;
  for (let round = 0; round < rounds_max; round += 1) {
    const closed = await closeEdges(deps, notes_max, cursor.parents);
    cursor.parents = closed.reached;
    const released = await releaseChildren(deps, notes_max, cursor.children);
    cursor.children = released.reached;
    const { ready, arrived, cancelled } = released;
    await announce(deps, ready);
    deps.followUps.arrived(arrived);
    if (cancelled.length > 0) await tellEnded(deps, cancelled);
    const left = closed.left || released.left;
    vain += closed.in_vain + released.in_vain;
    const untried = closed.reached.length + released.reached.length > 0 && vain < vain_max;
    const progress = untried || closed.further || closed.notes + closed.edges + released.notes > 0;
    if (!released.deeper && !(left && progress)) return { more: false, left };
  }
  return { more: true, left: true };
}

async function tellEnded({ observe, signal }: AdvancingDeps, ids: readonly string[]): Promise<void> {
  for (const topic of ["cancelled", "finished"] as const)
    await hint(observe, "notice", () => signal.notices.tell(topic, ids));
}
