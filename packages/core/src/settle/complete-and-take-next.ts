import { randomUUID } from "node:crypto";
import { isLocked, isUnavailable, outcomeUnknown } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import { endInGroups } from "../groups/advance.ts";
import { leaseEvent, type Claimer, type Lease } from "../lease/lease.ts";
import { isTokenTaken } from "../lease/token-taken.ts";
import { complete, type Completion, type SettleOutcome } from "./complete.ts";
import { groupsOf, tellSettled } from "./settle.ts";
import { settlementOf, type Settlement } from "./statement.ts";

/** The worker that takes the next jobs, and the completed jobs, by id, whose groups are to go on. */
export type TakeNext = Pick<Claimer, "worker_id" | "lease_seconds" | "lease_token" | "unanswered"> & {
  after: readonly string[];
  /** With the whole job: for a remote worker. */
  whole?: boolean;
};

/** The outcomes in the order of the completions, and the lease of each one's next job that could be taken. */
export type CompletedAndTaken<L> = { outcomes: SettleOutcome[]; next: ReadonlyMap<Lease, L> };

/**
 * `complete`, and of the groups named the next job is blocked → running in the same transaction, under a new token: so no
 * job of a group starts before the one in front of it is settled for good, and between the two lies one commit. Where this
 * cannot be done (see `advanceGroups`) the next job is let through, as `complete` does. When an answer is lost, what may
 * have been taken goes back through `unanswered`, and the settlement may be repeated.
 *
 * @example
 * const { outcomes, next } = await completeAndTakeNext(deps, completions, { worker_id, lease_seconds: 30, after: [id] });
 */
export async function completeAndTakeNext<L extends Lease = Lease>(
  deps: Deps,
  completions: readonly Completion[],
  { worker_id, lease_seconds, lease_token = randomUUID(), after, unanswered, whole }: TakeNext,
): Promise<CompletedAndTaken<L>> {
  if (after.length === 0) return { outcomes: await complete(deps, completions), next: new Map() };
  const grouped = groupsOf(completions);
  const asked = new Set(after);
  const take = {
    after: new Set(grouped.filter(({ id }) => asked.has(id))),
    lease_token,
    worker_id,
    lease_seconds,
    whole,
  };
  let ended;
  try {
    ended = await endInGroups<Settlement, L>(deps, settlementOf(completions), grouped, take);
  } catch (error) {
    if (outcomeUnknown(error)) unanswered?.(lease_token);
    if (isUnavailable(error) && !isLocked(error)) throw error;
    // What is wrong with the next job must not keep this one from being settled.
    const outcomes = await complete(deps, completions);
    if (!isLocked(error) && !isTokenTaken(error)) deps.observe({ event: "groups_failed", error: String(error) });
    return { outcomes, next: new Map() };
  }
  const { answer, through, leased } = ended;
  const taken = new Map(leased.map((lease) => [groupOf(lease), { ...lease, lease_token, worker_id, followed: true }]));
  const outcomes = await tellSettled(deps, completions, answer, through).catch((error: unknown) => {
    unanswered?.(lease_token);
    throw error;
  });
  for (const id of answer?.refused ?? []) asked.delete(id);
  const next = new Map<Lease, L>();
  for (const { lease } of completions) {
    const one = taken.size > 0 && asked.has(lease.id) ? taken.get(groupOf(lease)) : undefined;
    if (one) next.set(lease, one);
  }
  // Behind a job that ended earlier, while the next one was locked. A repetition gives its caller no job, so all go back.
  if (next.size < leased.length) {
    unanswered?.(lease_token);
    next.clear();
  }
  for (const one of next.values()) deps.observe(leaseEvent("lease_acquired", one));
  return { outcomes: outcomes as SettleOutcome[], next };
}

const groupOf = ({ tenant, queue, group_key }: Lease) => `${tenant}\0${queue}\0${group_key}`;
