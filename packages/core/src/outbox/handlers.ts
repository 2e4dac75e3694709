import type { Deps } from "../deps.ts";
import { flowHandlers } from "../flows/handlers.ts";
import type { OfType } from "../rollups/tally.ts";
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
 * What acts on each kind of row. `admit`: a job came with another transaction, and is to get its keys and its place in its
 * group. `submitted`: jobs came with another transaction that ask for neither, and are to be counted in the figures.
 */
export function outboxHandlers(deps: HandlerDeps): Handlers {
  return {
    ...flowHandlers(deps),
    admit: { version: 1, handle: (execute, rows, is_alone) => admit(deps, execute, { rows, is_alone }, deps.admitted) },
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
