import { randomUUID } from "node:crypto";
import { composed } from "../database/composed.ts";
import { isLocked, isUnavailable, outcomeUnknown } from "../database/errors.ts";
import { uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { handOver } from "../groups/join.ts";
import { nextParameters, takeNext } from "../groups/take-next.ts";
import { leaseEvent, type Claimer, type Lease } from "../lease/lease.ts";
import { isTokenTaken } from "../lease/token-taken.ts";
import type { Width } from "../lease/take-leases.ts";
import {
  answerOf,
  complete,
  settledPart,
  settlementParameters,
  settlementParams,
  tellAll,
  type Completion,
  type Kind,
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
 * `complete`, and of the groups named the next job is blocked → running in the same statement, under a new token: so no
 * job of a group starts before the one in front of it is settled for good, and between the two lie one round trip and one
 * commit. A group for which this cannot be done is handed on as ever, see `takeNext`. When an answer is lost, what may
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
  const { kind, params } = settlementParams(completions);
  const token = lease_token ?? randomUUID();
  const statement = {
    text: textFor(kind, width),
    params: [...params, uuidArray(after), token, worker_id, lease_seconds],
  };
  let rows;
  try {
    rows = await executeOn(deps.database)<Settlement & L>(statement);
  } catch (error) {
    if (outcomeUnknown(error)) unanswered?.(token);
    if (isUnavailable(error) && !isLocked(error)) throw error;
    // What is wrong with the next job must not keep this one from being settled.
    const outcomes = await complete(deps, completions);
    if (!isLocked(error) && !isTokenTaken(error)) deps.observe({ event: "groups_failed", error: String(error) });
    return { outcomes, next: new Map() };
  }
  const [answer] = rows;
  const taken = new Map<string, L>();
  for (const { refused: _, parents: __, ...rest } of rows) {
    const lease = rest as unknown as L;
    if (lease.id !== null) taken.set(groupOf(lease), { ...lease, lease_token: token, worker_id, followed: true });
  }
  const outcomes = await tellAll(deps, completions, answer).catch((error: unknown) => {
    unanswered?.(token);
    throw error;
  });
  const next = new Map<Lease, L>();
  const asked = new Set(after);
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

const settling = (kind: Kind, width: Width, first: number) => `
  WITH ${settledPart(kind, "quick")}, ${takeNext(first, width)}, ${handOver("left_to_notes")}
  SELECT answer.*, leased.* FROM (${answerOf}) AS answer LEFT JOIN leased ON true`;

const widths = ["lease", "traced", "whole"] as const;
const nameOf = ({ logged, with_results }: Omit<Kind, "grouped">, width: Width) =>
  `settle/complete-and-take-next${logged ? "-logged" : ""}${with_results ? "" : "-empty"}-${width}`;

const statements = new Map(
  widths.flatMap((width) =>
    // Nothing that a remote worker logged is kept.
    (width === "whole" ? [false] : [false, true]).flatMap((logged) =>
      [false, true].map((with_results) => {
        const kind = { grouped: true, logged, with_results };
        const parameters = settlementParameters(kind);
        const name = nameOf(kind, width);
        const text = settling(kind, width, parameters.length + 1);
        return [name, composed(name, [...parameters, ...nextParameters], text)] as const;
      }),
    ),
  ),
);

function textFor(kind: Kind, width: Width): string {
  const text = statements.get(nameOf(kind, width));
  if (text === undefined) throw new Error(`no statement for ${JSON.stringify(kind)}`);
  return text;
}
