import { randomUUID } from "node:crypto";
import { isLocked, isUnavailable, outcomeUnknown } from "../database/errors.ts";
import { sentTogether } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { advanceAndLease, lockGroups, readyOf, type Advanced } from "../groups/advance.ts";
import { leaseEvent, type Claimer, type Lease } from "../lease/lease.ts";
import { isTokenTaken } from "../lease/token-taken.ts";
import type { Width } from "../lease/take-leases.ts";
import {
  complete,
  inGroups,
  settlementOf,
  tellAll,
  type Completion,
  type Settlement,
  type SettleOutcome,
} from "./complete.ts";

/** The worker that takes the next jobs, and the completed jobs, by id, whose groups are to go on. */
export type TakeNext = Pick<Claimer, "worker_id" | "lease_seconds" | "lease_token" | "unanswered"> & {
  after: readonly string[];
  /** What comes of each. Default: what a worker of ours needs. */
  width?: Width;
};

/** The outcomes in the order of the completions, and the lease of each one's next job that could be taken. */
export type CompletedAndTaken<L> = { outcomes: SettleOutcome[]; next: ReadonlyMap<Lease, L> };

/**
 * `complete`, and of the groups named the next job is blocked → running in the same transaction, under a new token: so no
 * job of a group starts before the one in front of it is settled for good, and between the two lies one commit. Where this
 * cannot be done (see `advanceAndLease`) the next job is let through, as `complete` does. When an answer is lost, what may
 * have been taken goes back through `unanswered`, and the settlement may be repeated.
 *
 * @example
 * const { outcomes, next } = await completeAndTakeNext(deps, completions, { worker_id, lease_seconds: 30, after: [id] });
 */
export async function completeAndTakeNext<L extends Lease = Lease>(
  deps: Deps,
  completions: readonly Completion[],
  {
    worker_id,
    lease_seconds,
    lease_token,
    after,
    unanswered,
    width = deps.tracing?.on() ? "traced" : "lease",
  }: TakeNext,
): Promise<CompletedAndTaken<L>> {
  if (after.length === 0) return { outcomes: await complete(deps, completions), next: new Map() };
  const token = lease_token ?? randomUUID();
  const grouped = inGroups(completions);
  const asked = new Set(after);
  const going_on = grouped.filter(({ id }) => asked.has(id));
  let answers;
  try {
    answers = (await sentTogether(deps.database, [
      settlementOf(completions).quick,
      lockGroups(grouped),
      advanceAndLease(grouped, going_on, { lease_token: token, worker_id, lease_seconds }, width),
    ])) as [readonly Settlement[], unknown, readonly (L & Advanced)[]];
  } catch (error) {
    if (outcomeUnknown(error)) unanswered?.(token);
    if (isUnavailable(error) && !isLocked(error)) throw error;
    // What is wrong with the next job must not keep this one from being settled.
    const outcomes = await complete(deps, completions);
    if (!isLocked(error) && !isTokenTaken(error)) deps.observe({ event: "groups_failed", error: String(error) });
    return { outcomes, next: new Map() };
  }
  const [[answer], , rows] = answers;
  const ready = readyOf(deps, rows[0]?.through ?? []);
  const taken = new Map<string, L>();
  for (const { through: _, ...rest } of rows) {
    const lease = rest as unknown as L;
    if (lease.id !== null) taken.set(groupOf(lease), { ...lease, lease_token: token, worker_id, followed: true });
  }
  const outcomes = await tellAll(deps, completions, answer, ready).catch((error: unknown) => {
    unanswered?.(token);
    throw error;
  });
  const next = new Map<Lease, L>();
  // One that only repeats its settlement has had its turn: what was taken is behind another job of its group.
  for (const id of answer?.refused ?? []) asked.delete(id);
  for (const { lease } of completions) {
    const one = taken.size > 0 && asked.has(lease.id) ? taken.get(groupOf(lease)) : undefined;
    if (!one) continue;
    next.set(lease, one);
    deps.observe(leaseEvent("lease_acquired", one));
  }
  return { outcomes, next };
}

const groupOf = ({ tenant, queue, group_key }: Lease) => `${tenant}\0${queue}\0${group_key}`;
