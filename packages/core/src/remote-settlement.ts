import { storableText, type Json } from "@atlasqueue/contract";
import type { ClaimCleaner } from "./claim-cleaner.ts";
import type { Deps } from "./deps.ts";
import type { BackoffPolicy } from "./policy/backoff.ts";
import type { GroupAdvancer } from "./group-advancer.ts";
import { verdictAfterFailure } from "./policy/verdict.ts";
import type { Promoter } from "./promoter.ts";
import { findLeased, type Leased } from "./queries/find-leased.ts";
import type { Refiller } from "./refiller.ts";
import { hint } from "./signal/announce.ts";
import type { Signal } from "./signal/signal.ts";
import type { Lease } from "./transitions/claim.ts";
import { complete } from "./transitions/complete.ts";
import { fail } from "./transitions/fail.ts";

export type Ack = { id: string; lease_token: string; result?: Json | undefined };
export type Nack = {
  id: string;
  lease_token: string;
  error: string;
  /** False makes it a dead letter at once. */
  retry: boolean;
  /** Until the next attempt, instead of the backoff. */
  delay_seconds?: number | undefined;
};
/** What became of the job, or why nothing did. */
export type RemoteOutcome = "succeeded" | "failed" | "dead" | "lease_lost" | "not_found";

export type RemoteSettlementDeps = Deps & {
  signal: Signal;
  backoff: BackoffPolicy;
  promoter: Promoter;
  claimCleaner: ClaimCleaner;
  groups: GroupAdvancer;
  refiller: Refiller;
};

/**
 * Settle what remote workers finished, all acks in one statement and all nacks in another. Outcomes stand in the order
 * given. Each job may be named once. The same settlement again has the same outcome, as its answer may have been lost.
 *
 * @example
 * const { acks } = await settleRemote(deps, "default", [{ id, lease_token, result: { sent: true } }], []);
 */
export async function settleRemote(
  deps: RemoteSettlementDeps,
  tenant: string,
  acks: readonly Ack[],
  nacks: readonly Nack[],
): Promise<{ acks: RemoteOutcome[]; nacks: RemoteOutcome[] }> {
  const leased = await findLeased(
    deps,
    tenant,
    [...acks, ...nacks].map(({ id }) => id),
  );
  const grouped = [...leased.values()].some(({ group_key }) => group_key !== null);
  const [acked, nacked] = await Promise.all([
    settleKnown(acks, leased, (known) => succeed(deps, known)),
    settleKnown(nacks, leased, (known) => failAll(deps, known)),
  ]);
  deps.claimCleaner.settled(new Set([...acks, ...nacks].map(({ lease_token }) => lease_token)));
  if (grouped) deps.groups.kick();
  for (const { tenant: of, queue, limited } of leased.values()) if (limited) deps.refiller.freed({ tenant: of, queue });
  const final = [
    ...acks.filter((_, at) => acked[at] === "succeeded"),
    ...nacks.filter((_, at) => nacked[at] === "dead"),
  ];
  if (final.length > 0)
    await hint(deps.observe, "notice", () =>
      deps.signal.notices.tell(
        "finished",
        final.map(({ id }) => id),
      ),
    );
  return { acks: acked, nacks: nacked };
}

type Known<T> = { item: T; lease: Lease };

/** Leaves out the jobs that are not the tenant's; the others keep their places. */
async function settleKnown<T extends Ack | Nack>(
  items: readonly T[],
  leased: ReadonlyMap<string, Leased>,
  settle: (known: Known<T>[]) => Promise<RemoteOutcome[]>,
): Promise<RemoteOutcome[]> {
  const known = items.flatMap((item) => {
    const facts = leased.get(item.id);
    return facts ? [{ item, lease: { ...facts, payload: {}, lease_token: item.lease_token } }] : [];
  });
  const outcomes = known.length === 0 ? [] : await settle(known);
  const byId = new Map(known.map(({ item }, at) => [item.id, outcomes[at] as RemoteOutcome]));
  return items.map(({ id }) => byId.get(id) ?? "not_found");
}

async function succeed(deps: RemoteSettlementDeps, known: Known<Ack>[]): Promise<RemoteOutcome[]> {
  const outcomes = await complete(
    deps,
    known.map(({ item, lease }) => ({ lease, result: item.result ?? null })),
  );
  return outcomes.map(({ kind }) => (kind === "applied" ? "succeeded" : kind));
}

async function failAll(deps: RemoteSettlementDeps, known: Known<Nack>[]): Promise<RemoteOutcome[]> {
  const failures = known.map(({ item, lease }) => {
    const { attempts, max_attempts, backoff } = lease;
    const delay_ms = item.delay_seconds === undefined ? undefined : item.delay_seconds * 1_000;
    const attempt = { attempts, max_attempts, backoff, retryable: item.retry, delay_ms };
    const verdict = verdictAfterFailure(attempt, deps.backoff, Math.random());
    return { lease, error: storableText(item.error), verdict };
  });
  const outcomes = await fail(deps, failures);
  const dead = failures.filter((_, at) => outcomes[at]?.kind === "dead").map(({ lease }) => lease.id);
  if (dead.length > 0) await hint(deps.observe, "dead letter", () => deps.signal.deadLetters.add(dead));
  for (const [at, { verdict }] of failures.entries())
    if (verdict.kind === "retry" && outcomes[at]?.kind === "retrying") deps.promoter.expectIn(verdict.delay_ms);
  return outcomes.map(({ kind }) => (kind === "retrying" ? "failed" : kind));
}
