import type { Deps } from "../deps.ts";
import type { Handlers } from "../outbox/drain-page.ts";
import { announce, hint } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { closeEdges } from "./close-edges.ts";
import { releaseChildren, type Released } from "./release-children.ts";

/**
 * Act on the rows of the outbox that flows write. `parent_ended`: a job ended or started anew, and the jobs that wait for it
 * must learn of it. `recheck_child`: something that a job waited for is over.
 */
export function flowHandlers(deps: Deps & { signal: Signal }): Handlers {
  const released = async ({ ready, cancelled }: Released): Promise<void> => {
    await announce(deps, ready);
    if (cancelled.length === 0) return;
    for (const topic of ["cancelled", "finished"] as const)
      await hint(deps.observe, "notice", () => deps.signal.notices.tell(topic, cancelled));
  };
  return {
    parent_ended: { version: 1, handle: closeEdges },
    recheck_child: {
      version: 1,
      handle: (execute, rows) => releaseChildren(deps, execute, rows, released),
    },
  };
}
