import { inTransaction } from "../src/database/transaction.ts";
import type { Deps, QueueRef } from "../src/deps.ts";
import { type Released, releaseChildren as release } from "../src/flows/release-children.ts";
import { widenGroups } from "../src/groups/overdue.ts";
import { drainPage, type Drained, type Handler, type Handlers } from "../src/outbox/drain-page.ts";
import { createDrainer } from "../src/outbox/drainer.ts";
import { outboxHandlers } from "../src/outbox/handlers.ts";
import { memorySignal } from "../src/signal/memory/signal.ts";
import type { Admitted } from "../src/submit/pending/admit.ts";

type After = { admitted?: (jobs: Admitted) => Promise<void> };

/** What acts on rows, without what follows. */
export const handlersFor = (deps: Deps, { admitted = async () => {} }: After = {}): Handlers =>
  outboxHandlers({ ...deps, signal: memorySignal(), admitted, submitted: () => {} });

/**
 * Act on the rows of the outbox until none is left that is due.
 *
 * @example
 * await advanceAndAdmit(deps);
 */
export async function advanceAndAdmit(deps: Deps): Promise<void> {
  const handlers = handlersFor(deps);
  while ((await drainPage(deps, handlers, 500)).rows > 0);
}

/** Only on those of pending jobs. What meets a lock, or fails, is put off. */
export async function admitAll(deps: Deps, after: After = {}): Promise<void> {
  const { admit } = handlersFor(deps, after);
  const drainer = createDrainer(deps, { ...(admit && { admit }) });
  await drainer.drain();
  drainer.stop();
}

/** One page of rows `parent_ended`. */
export const closeEdges = (deps: Deps, rows_max: number): Promise<Drained> => {
  const { parent_ended } = handlersFor(deps);
  return drainPage(deps, { ...(parent_ended && { parent_ended }) }, rows_max);
};

const widen: Handler = (execute, rows) => widenGroups(execute, rows, async () => {});

/** Has all groups with waiting jobs of the queues whose groups were widened looked at later, and lets none through now. */
export async function markWidened(deps: Deps): Promise<void> {
  while ((await drainPage(deps, { groups_widened: { version: 1, handle: widen } }, 500)).rows > 0);
}

/** A page of a queue's groups, as when they are widened. */
export const markBlocked = (deps: Deps, { tenant, queue }: QueueRef) =>
  inTransaction(deps.database, (execute) =>
    widen(
      execute,
      [{ id: "1", kind: "groups_widened", version: 1, tenant, key: null, lane: null, payload: { queue } }],
      true,
    ),
  );

/** One page of rows `recheck_child`, and what became of the children. */
export async function releaseChildren(deps: Deps, rows_max: number): Promise<Drained & Released> {
  let released: Released = { ready: [], cancelled: [] };
  const recheck_child = {
    version: 1,
    handle: ((execute, rows) => release(deps, execute, rows, async (jobs) => void (released = jobs))) satisfies Handler,
  };
  return { ...(await drainPage(deps, { recheck_child }, rows_max)), ...released };
}
