import type { Deps } from "../deps.ts";
import { stepping } from "../queues/stepping.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { promoteDue, type Share } from "./promote.ts";
import { createTenantRound } from "./tenant-round.ts";

const jobs_max = 500;

/** Queues with jobs that are due now or later, and whether the first one of each is due now. */
const dueQueues = stepping<{ due: boolean }>({
  name: "queues/waiting-queues-of",
  are: "due_at IS NOT NULL",
  order: "ASC",
  said: "first.due_at <= now() AS due",
});

export type DueRound = () => Promise<ReadyJob[]>;

/**
 * Promotes due jobs, queue after queue: each round continues where the last one ended. Each tenant with due jobs gets an
 * equal share of a round, and its queues share that equally, so a million jobs of one tenant do not delay another's. Signal
 * the jobs that it returns.
 *
 * @example
 * const goRound = createDueRound(deps);
 * await announce(deps, await goRound());
 */
export function createDueRound(deps: Deps): DueRound {
  const round = createTenantRound(deps, dueQueues);
  return async () => {
    const shares = sharesOf([...(await round.next()).values()].map((page) => page.filter(({ due }) => due)));
    return shares.length > 0 ? promoteDue(deps, 0, shares) : [];
  };
}

/** At least one job of each queue. */
function sharesOf(pages: readonly (readonly Omit<Share, "jobs_max">[])[]): Share[] {
  const due = pages.filter((page) => page.length > 0);
  return due.flatMap((page) => {
    const share = Math.ceil(jobs_max / due.length / page.length);
    return page.map(({ tenant, queue }) => ({ tenant, queue, jobs_max: share }));
  });
}
