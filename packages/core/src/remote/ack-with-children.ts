import { withPriority } from "../database/pool/fair-share.ts";
import { findLeased } from "../lease/find-leased.ts";
import { completeWithChildren, type Spawned, type SpawnRefusal } from "../settle/complete-with-children.ts";
import { transition } from "../tracing/send.ts";
import {
  settledAs,
  settleKnown,
  type Ack,
  type Known,
  type RemoteOutcome,
  type RemoteSettlementDeps,
} from "./settle.ts";

type Outcome = RemoteOutcome | SpawnRefusal;

/**
 * Settle a job that a remote worker finished, together with the jobs it adds: both or neither. Since an answer may be
 * lost, repeating it gives the same outcome, and adds nothing.
 *
 * @example
 * const outcome = await ackWithChildren(deps, "default", { id, lease_token }, { children, dependants_wait: false });
 */
export async function ackWithChildren(
  deps: RemoteSettlementDeps,
  tenant: string,
  ack: Ack,
  spawned: Spawned,
): Promise<Outcome> {
  const own = { ...deps, database: withPriority(deps.database) };
  const leased = await findLeased(own, tenant, [ack.id]);
  const settle = (known: Known<Ack>[]) =>
    Promise.all(known.map((one) => transition(own, "complete", { count: 1 }, () => succeed(own, one, spawned))));
  const [outcome = "not_found"] = await settleKnown<Ack, Outcome>([ack], leased, settle);
  return outcome;
}

async function succeed(
  deps: RemoteSettlementDeps,
  { item, lease }: Known<Ack>,
  spawned: Spawned,
): Promise<Outcome | "locked"> {
  const outcome = await completeWithChildren(deps, { lease, result: item.result ?? null }, spawned);
  if (outcome.kind === "refused") return outcome.refusal;
  if (outcome.kind !== "applied") return outcome.kind;
  deps.followUps.submitted(outcome.children);
  await deps.followUps.settled([settledAs(lease, "succeeded", outcome)]);
  return "succeeded";
}
