import type { Deps } from "../deps.ts";
import { closeEdges } from "../flows/close-edges.ts";
import { releaseChildren, type Released } from "../flows/release-children.ts";
import { advanceAllOverdue, widenGroups } from "../groups/overdue.ts";
import type { OfType } from "../rollups/tally.ts";
import { announce, hint } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { admit, type Admitted } from "../submit/pending/admit.ts";
import type { Handlers } from "./drain-page.ts";

/** `admitted` and `submitted` are called after the commit. */
export type HandlerDeps = Deps & {
  signal: Signal;
  admitted(jobs: Admitted): Promise<void>;
  submitted(job: OfType, count: number): void;
};

/**
 * What acts on each kind of row. `parent_ended`: a job ended or started anew, and the jobs that wait for it must learn of
 * it. `recheck_child`: something that a job waited for is over. `admit`: a job came with another transaction, and is to get its keys and its place in its
 * group. `submitted`: jobs came with another transaction that ask for neither, and are to be counted in the figures.
 * `groups_widened`: more jobs of the groups of a queue may run at once.
 */
export function outboxHandlers(deps: HandlerDeps): Handlers {
  const released = async ({ ready, cancelled }: Released): Promise<void> => {
    await announce(deps, ready);
    if (cancelled.length === 0) return;
    for (const topic of ["cancelled", "finished"] as const)
      await hint(deps.observe, "notice", () => deps.signal.notices.tell(topic, cancelled));
  };
  return {
    parent_ended: {
      version: 1,
      handle: (execute, rows) => closeEdges(execute, rows, (parents) => announce(deps, parents)),
    },
    recheck_child: { version: 1, handle: (execute, rows) => releaseChildren(deps, execute, rows, released) },
    admit: { version: 1, handle: (execute, rows, is_alone) => admit(deps, execute, { rows, is_alone }, deps.admitted) },
    groups_widened: {
      version: 1,
      // A page at once, as rows of other kinds wait for it. The sweep goes on with the rest, and with what fails here.
      handle: (execute, rows) => widenGroups(execute, rows, () => advanceAllOverdue(deps, 1).catch(() => {})),
    },
    submitted: {
      version: 1,
      handle: async (_execute, rows) => ({
        async committed() {
          for (const { tenant, payload } of rows) {
            const { queue, type, count } = payload as OfType & { count: number };
            deps.submitted({ tenant, queue, type }, count);
          }
        },
      }),
    },
  };
}
