import { uuidArray } from "../database/literals.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { draftsOf } from "../submit/drafts.ts";
import { answerAll, enqueueAll, type EnqueueAllOutcome } from "../submit/enqueue-all.ts";
import { look, type EnqueueOptions } from "../submit/enqueue.ts";
import { settleConflicts } from "../submit/idempotency.ts";
import type { Draft } from "../submit/insert-jobs.ts";
import { lookAgain } from "../submit/look-again.ts";
import type { EnqueueOutcome, Submission } from "../submit/outcome.ts";
import { enqueueUnique } from "../submit/unique/enqueue.ts";
import { uniqueNameOf } from "../submit/unique/plan.ts";
import { asInsert, sendAll } from "../tracing/send.ts";
import { placesOf } from "./flow-faults.ts";
import { isFlow, type Flow, type FlowPart, type Parent } from "./flow.ts";

export type FlowOutcome =
  | EnqueueAllOutcome
  /** Nothing was stored: there are no jobs, or no more, with the ids at these places of `depends_on`. */
  | { kind: "unknown_parents"; places: { at: number; nth: number; id: string }[] };

/**
 * (nothing) → queued | scheduled | blocked, all of them or none: jobs that wait for others, and who waits for whom. It
 * must be a flow without `flowFaults`; `then`, if any, is the last of the outcomes. A flow in which no one waits is a
 * batch like any other. If a flow was stored under its keys before and some of its jobs were removed since, that is a
 * `mismatch`: neither what is left nor another flow would be the answer. Throws like `enqueue`.
 *
 * @example
 * const outcome = await submitFlow(deps, { jobs: [a, b], then }, { idempotency_ttl_seconds: 86_400 });
 */
export async function submitFlow(deps: Deps, flow: Flow, options: EnqueueOptions): Promise<FlowOutcome> {
  if (!isFlow(flow)) return enqueueAll(deps, flow.jobs, options);
  const submissions = flow.then ? [...flow.jobs, flow.then] : flow.jobs;
  return sendAll(deps, submissions, (all) =>
    asInsert(deps, all, async () => {
      const drafts = tied(flow, await draftsOf(all), { flow_id: newId() });
      const outcomes = await lookAgain(() => storeTied(executeOn(deps.database), drafts, options));
      return answerFlow(deps, flow, all, drafts, outcomes);
    }),
  );
}

/** Reports what became of its jobs, or why nothing did. */
export function answerFlow(
  deps: Pick<Deps, "observe">,
  flow: Flow,
  submissions: readonly Submission[],
  drafts: readonly Draft[],
  stored: StoredFlow,
): FlowOutcome {
  if (stored instanceof Map) return answerAll(deps, submissions, drafts, stored);
  return { kind: "unknown_parents", places: placesAmong(flow, stored.unknown) };
}

/** What all jobs of it have in common. `others_wait` when jobs that were there before are to wait for each of them. */
type InFlow = Pick<FlowPart, "flow_id" | "spawned"> & { others_wait?: boolean };

/** The drafts, each with its part in the flow. None waits for the job that adds them, as that one ends with it. */
export function tied(
  { jobs, then }: Flow,
  drafts: readonly Draft[],
  { flow_id, spawned, others_wait = false }: InFlow,
): Draft[] {
  const places = placesOf(jobs);
  const idAt = (place: number) => drafts[place]?.id ?? "";
  const parentOf = (ref: string): Parent => {
    const place = places.get(ref);
    return { ref, id: place === undefined ? ref : idAt(place) };
  };
  const everyone = (): Parent[] => jobs.map(({ ref }, at) => ({ ref: ref ?? idAt(at), id: idAt(at) }));
  const ties = jobs.map(({ ref = null, depends_on = [], on_parent_failure = "cancel" as const }) => ({
    ref,
    on_parent_failure,
    parents: depends_on.filter((one) => one !== spawned?.by).map(parentOf),
  }));
  const last = then && { ref: null, on_parent_failure: "run" as const, parents: everyone() };
  const all = last ? [...ties, last] : ties;
  const waited_for = new Set(all.flatMap(({ parents }) => parents.map(({ id }) => id)));
  return drafts.map((draft, at) => {
    const tie = all[at];
    const has_children = others_wait || waited_for.has(draft.id);
    return tie ? { ...draft, flow: { ...tie, flow_id, has_children, spawned } } : draft;
  });
}

type Outcomes = Map<Draft, EnqueueOutcome>;

/** Of each job, or the parents that do not exist: then nothing was stored, and neither when some are refused. */
export type StoredFlow = Outcomes | { unknown: ReadonlySet<string> };

/** One look and one statement, which undoes itself when a key was taken in between. */
export async function storeTied(
  execute: Execute,
  drafts: readonly Draft[],
  { idempotency_ttl_seconds }: EnqueueOptions,
): Promise<StoredFlow> {
  const known = await look(execute, drafts);
  const outcomes: Outcomes = new Map();
  settleConflicts(drafts, known.keyed, outcomes);
  if (outcomes.size === drafts.length) return outcomes;
  if (outcomes.size > 0) return new Map(drafts.map((one) => [one, { kind: "mismatch" }]));
  const unknown = await missingAmong(execute, drafts);
  if (unknown.size > 0) return { unknown };
  const unique = drafts.filter(({ request }) => request.unique);
  const names = new Map(unique.map((one) => [one, uniqueNameOf(one)]));
  return enqueueUnique(execute, drafts, names, known.held, { idempotency_ttl_seconds, strict: true });
}

/** The parents that should have been there before, and are not. */
async function missingAmong(execute: Execute, drafts: readonly Draft[]): Promise<ReadonlySet<string>> {
  const own = new Set(drafts.map(({ id }) => id));
  const ids = drafts.flatMap(({ flow }) => flow?.parents.map(({ id }) => id) ?? []);
  const missing = new Set(ids.filter((id) => !own.has(id)));
  if (missing.size === 0) return missing;
  const params = [uuidArray([...missing]), drafts[0]?.tenant ?? ""];
  for (const { id } of await execute<{ id: string }>({ text: existing, params })) missing.delete(id);
  return missing;
}

const existing = "SELECT id FROM jobs WHERE id = ANY($1::uuid[]) AND tenant = $2";

function placesAmong({ jobs }: Flow, unknown: ReadonlySet<string>) {
  return jobs.flatMap(({ depends_on = [] }, at) =>
    depends_on.flatMap((id, nth) => (unknown.has(id) ? [{ at, nth, id }] : [])),
  );
}
