import { limits, type Fault } from "@atlasqueue/contract";
import { isLocked } from "../database/errors.ts";
import { isUuid } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { unknownParent } from "../flows/flow-faults.ts";
import { findCircle, adoptChildren, flowOfSpawner, lockDependants } from "../flows/spawn/dependants.ts";
import type { FlowJob } from "../flows/flow.ts";
import {
  answerFlow,
  storeFlows,
  tied,
  type DraftedFlow,
  type FlowOutcome,
  type StoredFlow,
} from "../flows/submit-flow.ts";
import { lockJob, type LockedJob } from "../jobs/lock-job.ts";
import { draftsOf } from "../submit/drafts.ts";
import { lookAgain } from "../submit/enqueue.ts";
import type { EnqueueOutcome } from "../submit/outcome.ts";
import { sendAll } from "../tracing/send.ts";
import { advanceAfter, readyOf, type LetThrough } from "../groups/advance.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { groupsOf, reportOutcomes, type SettleOutcome } from "./settle.ts";
import { settlementOf, type Completion, type Settlement } from "./statement.ts";

/** Tries at what is locked: the settler comes back soon, and holds up nothing else meanwhile. */
const tries_max = 4;

/** The jobs that a job adds as it succeeds: without `childrenFaults`, and without keys, as its own lease is their key. */
export type Spawned = {
  children: readonly FlowJob[];
  /** Those that wait for the job wait for its children too. */
  dependants_wait: boolean;
};

/** Why they cannot be added. Nothing was stored, and the job still runs under its lease. */
export type SpawnRefusal =
  | Exclude<FlowOutcome, { kind: "stored" | "mismatch" }>
  /** Its dependants would have to wait for more jobs than they may. */
  | { kind: "too_many_waits"; dependants: number }
  /** One of the children waits, directly or over others, for this dependant, which is to wait for it. */
  | { kind: "circle"; dependant: string }
  /** The children wait for too many jobs to tell whether there is a circle. */
  | { kind: "too_many_to_tell" };

export type SpawnOutcome =
  /** `children` is empty when it was settled before, under this very lease; `ready` are the next jobs of its group. */
  | { kind: "applied"; has_children: boolean; children: readonly EnqueueOutcome[]; ready?: readonly ReadyJob[] }
  | Exclude<SettleOutcome, { kind: "applied" }>
  | { kind: "refused"; refusal: SpawnRefusal };

/**
 * running → succeeded, and the job's children (nothing) → queued | scheduled | blocked, in one transaction: both or
 * neither. They join the job's flow; each has it as its first parent, without waiting for it. Only the holder of the
 * current lease may do this; a repetition is answered as the first time, and adds nothing. Throws like `enqueue`.
 *
 * @example
 * const outcome = await completeWithChildren(deps, { lease, result }, { children: [part], dependants_wait: true });
 */
export async function completeWithChildren(
  deps: Deps,
  completion: Completion,
  { children, dependants_wait }: Spawned,
): Promise<SpawnOutcome> {
  const { lease } = completion;
  return sendAll(deps, children, async (all) => {
    const drafted = { flow: { jobs: children }, submissions: all, drafts: await draftsOf(all) };
    const write = () =>
      inTransaction(deps.database, (execute) => complete(execute, completion, drafted, dependants_wait));
    const written = await lookAgain(write, { tries: tries_max }).catch((error: unknown) => {
      if (isLocked(error)) return { kind: "locked" as const };
      throw error;
    });
    switch (written.kind) {
      case "locked":
      case "refused":
        return written;
      case "not_held": {
        const [settled] = await reportOutcomes(deps, [completion], {
          refused: [lease.id],
          parents: null,
          failed: null,
        });
        if (settled?.kind !== "applied") return { kind: "lease_lost" };
        return { kind: "applied", has_children: settled.has_children ?? false, children: [] };
      }
      case "stored": {
        const answer = answerFlow(deps, written.drafted, written.stored);
        if (answer.kind === "mismatch") throw new Error("children have no idempotency keys");
        if (answer.kind !== "stored") return { kind: "refused", refusal: answer };
        const { has_children, through } = written;
        await reportOutcomes(deps, [completion], undefined);
        return { kind: "applied", has_children, children: answer.outcomes, ready: readyOf(deps, through) };
      }
      default:
        return written satisfies never;
    }
  });
}

type Written =
  | { kind: "not_held" }
  | Extract<SpawnOutcome, { kind: "refused" }>
  /** Or refused: only when each was created. */
  | { kind: "stored"; drafted: DraftedFlow; stored: StoredFlow; has_children: boolean; through: LetThrough[] };

/**
 * Children that are refused write nothing, so the job is only settled when they are stored. Undefined if nothing was
 * done: look again.
 */
async function complete(
  execute: Execute,
  completion: Completion,
  { flow, submissions, drafts }: DraftedFlow,
  dependants_wait: boolean,
): Promise<Written | undefined> {
  const { tenant, id, lease_token } = completion.lease;
  const [held] = await execute<LockedJob>(lockJob(completion.lease));
  if (held?.status !== "running" || held.lease_token !== lease_token) return { kind: "not_held" };
  const has_children = held.has_children ?? false;
  const dependants = dependants_wait && has_children ? await lockDependants(execute, id) : [];
  if (isTooMuch(drafts.length, dependants))
    return { kind: "refused", refusal: { kind: "too_many_waits", dependants: dependants.length } };
  const circle = await findCircle(
    execute,
    drafts[0]?.tenant ?? "",
    flow.jobs.flatMap(({ depends_on = [] }) => depends_on.filter((one) => one !== id && isUuid(one))),
    dependants.map((one) => one.id),
  );
  if (!circle) return undefined;
  if (circle.kind === "found") return { kind: "refused", refusal: { kind: "circle", dependant: circle.dependant } };
  if (circle.kind === "beyond") return { kind: "refused", refusal: { kind: "too_many_to_tell" } };
  const { flow_id, first_place, is_new } = await flowOfSpawner(execute, { tenant, flow_id: held.flow_id });
  const parts = { flow_id, spawned_by: id, first_place, others_wait: dependants.length > 0 };
  const drafted = { flow, submissions, drafts: tied(flow, drafts, parts) };
  const [stored] = await storeFlows(execute, [drafted], { idempotency_ttl_seconds: 0 });
  if (!stored) return undefined;
  if (!allCreated(stored)) return { kind: "stored", drafted, stored, has_children, through: [] };
  const waited_for = dependants.length > 0 ? drafts.map((one) => one.id) : [];
  if (is_new || waited_for.length > 0) await adoptChildren(execute, id, waited_for, is_new ? flow_id : "");
  const [settlement] = await execute<Settlement>(settlementOf([completion]));
  if (settlement?.refused) throw new Error("a job whose row was locked could not be settled");
  const through = await advanceAfter(execute, groupsOf([completion]));
  return { kind: "stored", drafted, stored, has_children, through };
}

function isTooMuch(children: number, dependants: readonly { parents: number }[]): boolean {
  const { flow_edges_max } = limits;
  return (
    children * dependants.length > flow_edges_max ||
    dependants.some(({ parents }) => parents + children > flow_edges_max)
  );
}

function allCreated(stored: StoredFlow): boolean {
  return stored instanceof Map && [...stored.values()].every(({ kind }) => kind === "created");
}

const faults_max = 20;

/** What is wrong with jobs that were refused for what the database has. `pointerAt` says where a job is in the request. */
export function refusalFaults(refusal: SpawnRefusal, pointerAt: (at: number) => string): Fault[] {
  const pointer = "/dependants_wait";
  switch (refusal.kind) {
    case "conflict":
      return refusal.places.slice(0, faults_max).map(({ at, job_id }) => {
        return { pointer: `${pointerAt(at)}/unique`, message: `is held by the job ${job_id}` };
      });
    case "unknown_parents":
      return refusal.places.slice(0, faults_max).map(({ at, nth, id }) => {
        return { pointer: `${pointerAt(at)}/depends_on/${nth}`, message: unknownParent(id) };
      });
    case "too_many_waits": {
      const message = `must be false: the ${refusal.dependants} jobs that wait for this one would wait for more than ${limits.flow_edges_max} jobs, each alone or all together`;
      return [{ pointer, message }];
    }
    case "circle": {
      const message = `must be false: the job ${refusal.dependant}, which would wait for the children, is one for which they wait`;
      return [{ pointer, message }];
    }
    case "too_many_to_tell": {
      const message = "must be false: the children wait for too many jobs to tell whether these would wait for them";
      return [{ pointer, message }];
    }
    default:
      return refusal satisfies never;
  }
}
