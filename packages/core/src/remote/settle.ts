import { storableText, type Json } from "@atlasqueue/contract";
import { lockedError, afterSome, outcomeUnknown } from "../database/errors.ts";
import { withPriority } from "../database/pool/fair-share.ts";
import type { Deps } from "../deps.ts";
import type { FollowUps, Settled } from "../follow-ups.ts";
import type { BackoffPolicy } from "../settle/backoff.ts";
import { verdictAfterFailure } from "../settle/verdict.ts";
import { findLeased, type Leased } from "../lease/find-leased.ts";
import type { Lease } from "../lease/lease.ts";
import { complete, type Completion, fail } from "../settle/settle.ts";
import { transition } from "../tracing/send.ts";
import { completeAndGoOn, type GoneOn, type GoOn } from "./go-on.ts";
import type { Handed } from "./leased-before.ts";

/** What proves that a remote worker holds a job. */
export type Held = { id: string; lease_token: string };
export type Ack = Held & { result?: Json | undefined };
export type Nack = Held & {
  error: string;
  /** False makes it a dead letter at once. */
  retry: boolean;
  /** Delay until the next attempt, instead of the backoff. */
  delay_seconds?: number | undefined;
  error_data?: Json | undefined;
};
/** What became of the job, or why nothing changed. */
export type RemoteOutcome = "succeeded" | "failed" | "dead" | "queued" | "scheduled" | "lease_lost" | "not_found";

export type RemoteSettlementDeps = Deps & {
  backoff: BackoffPolicy;
  followUps: Pick<FollowUps, "settled" | "submitted">;
};

/**
 * Settle what remote workers finished, all acks in one statement and all nacks in another. Outcomes are in the order
 * given. Each job may be named once. Since an answer may be lost, repeating a settlement gives the same outcome. With
 * `go_on`, `next` has the jobs that were leased as those in front of them in their groups were acked. Of what their tenant has waiting, only other work on leases keeps them waiting.
 *
 * @example
 * const { acks } = await settleRemote(deps, "default", [{ id, lease_token, result: { sent: true } }], []);
 */
export async function settleRemote(
  deps: RemoteSettlementDeps,
  tenant: string,
  acks: readonly Ack[],
  nacks: readonly Nack[],
  go_on?: GoOn,
): Promise<{ acks: RemoteOutcome[]; nacks: RemoteOutcome[]; next: Handed }> {
  const own = { ...deps, database: withPriority(deps.database) };
  const leased = await findLeased(
    own,
    tenant,
    [...acks, ...nacks].map(({ id }) => id),
  );
  let next: Handed = { jobs: [], sent_at: performance.now(), remaining_ms: 0, repeated: false };
  const acking = settleKnown(acks, leased, async (known) => {
    const work = () => succeed(own, known, go_on);
    const { outcomes, next: taken = next } = await transition(own, "complete", { count: known.length }, work);
    next = taken;
    return outcomes;
  });
  const nacking = settleKnown(nacks, leased, (known) =>
    transition(own, "fail", { count: known.length }, () => failAll(own, known)),
  );
  try {
    const [acked, nacked] = await inParts(
      { does: acks.length > 0, work: acking },
      { does: nacks.length > 0, work: nacking },
    );
    return { acks: acked, nacks: nacked, next };
  } catch (error) {
    const [one] = next.jobs;
    if (go_on && go_on.lease_token === undefined && one) go_on.release(tenant, one.lease_token);
    throw error;
  }
}

export type Known<T> = { item: T; lease: Lease & Pick<Leased, "ran_ms"> };

/**
 * Leaves out jobs of other tenants; the rest keep their positions. Throws once the others are settled if another
 * transaction has one of them locked. Repeating the settlement gives the others the same outcomes.
 */
export async function settleKnown<T extends Held, Outcome>(
  items: readonly T[],
  leased: ReadonlyMap<string, Leased>,
  settle: (known: Known<T>[]) => Promise<(Outcome | "locked")[]>,
): Promise<(Outcome | "not_found")[]> {
  const known = items.flatMap((item) => {
    const facts = leased.get(item.id);
    return facts ? [{ item, lease: { ...facts, payload: {}, lease_token: item.lease_token } }] : [];
  });
  const outcomes = known.length === 0 ? [] : await settle(known);
  const byId = new Map<string, Outcome>();
  for (const [at, { item }] of known.entries()) {
    const outcome = outcomes[at];
    if (outcome !== undefined && outcome !== "locked") byId.set(item.id, outcome as Outcome);
  }
  if (byId.size < known.length) throw lockedError(byId.size > 0);
  return items.map(({ id }) => byId.get(id) ?? "not_found");
}

async function succeed(deps: RemoteSettlementDeps, known: Known<Ack>[], go_on: GoOn | undefined) {
  const completions = known.map(({ item, lease }): Completion => ({ lease, result: item.result ?? null }));
  const { outcomes, next }: Partial<GoneOn> & Pick<GoneOn, "outcomes"> = go_on
    ? await completeAndGoOn(deps, completions, go_on)
    : { outcomes: await complete(deps, completions) };
  await deps.followUps.settled(
    known.flatMap(({ lease }, at) => {
      const outcome = outcomes[at];
      if (outcome?.kind !== "applied") return [];
      return settledAs(lease, "succeeded", outcome);
    }),
  );
  return { outcomes: outcomes.map(({ kind }) => (kind === "applied" ? "succeeded" : kind)), next };
}

async function failAll(deps: RemoteSettlementDeps, known: Known<Nack>[]) {
  const failures = known.map(({ item, lease }) => {
    const { attempts, max_attempts, backoff } = lease;
    const delay_ms = item.delay_seconds === undefined ? undefined : item.delay_seconds * 1_000;
    const attempt = { attempts, max_attempts, backoff, retryable: item.retry, delay_ms };
    const verdict = verdictAfterFailure(attempt, deps.backoff, Math.random());
    return { lease, error: storableText(item.error), error_data: item.error_data, verdict };
  });
  const outcomes = await fail(deps, failures);
  await deps.followUps.settled(
    failures.flatMap(({ lease, verdict }, at) => {
      const outcome = outcomes[at];
      if (outcome?.kind === "dead") return settledAs(lease, "dead", outcome);
      if (outcome?.kind === "retrying" && verdict.kind === "retry")
        return settledAs(lease, { due_in_ms: verdict.delay_ms });
      return [];
    }),
  );
  return outcomes.map(({ kind }) => (kind === "retrying" ? "failed" : kind));
}

export function settledAs(
  lease: Known<unknown>["lease"],
  became: Settled["became"],
  { has_children, ready }: Pick<Settled, "has_children" | "ready"> = {},
): Settled {
  const { ran_ms, lease_token } = lease;
  // One that was not running any more was counted when it ended.
  return {
    job: lease,
    became,
    has_children,
    ready,
    claim: lease_token,
    ...(ran_ms === null ? { repeated: true } : { ran_ms }),
  };
}

/** `does`: there is something to be done at all. */
type Part<T> = { does: boolean; work: Promise<T> };

/**
 * Two parts of a request, which are done side by side. If one of them fails, and the other has done something, the error says
 * that a part may have been done.
 *
 * @example
 * const [acked, nacked] = await inParts({ does: true, work: acking }, { does: false, work: nacking });
 */
export async function inParts<A, B>(one: Part<A>, other: Part<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([one.work, other.work]);
  if (first.status === "rejected")
    return afterSome(other.does && (second.status === "fulfilled" || outcomeUnknown(second.reason)))(first.reason);
  if (second.status === "rejected") return afterSome(one.does)(second.reason);
  return [first.value, second.value];
}
