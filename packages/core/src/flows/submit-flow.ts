import { uuidArray } from "../database/literals.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { draftsOf } from "../submit/drafts.ts";
import { answerAll, enqueueAll, type EnqueueAllOutcome } from "../submit/enqueue-all.ts";
import { look, type EnqueueOptions, lookAgain } from "../submit/enqueue.ts";
import { settleConflicts } from "../submit/find-key-holders.ts";
import type { Draft } from "../submit/insert-jobs.ts";
import type { EnqueueOutcome, Submission } from "../submit/outcome.ts";
import { enqueueUnique } from "../submit/unique/enqueue.ts";
import { asInsert, sendAll } from "../tracing/send.ts";
import { isFlow, placesOf, type Flow, type FlowPart, type Parent } from "./flow.ts";

export type FlowOutcome =
  | EnqueueAllOutcome
  /** Nothing was stored: there are no jobs, or no more, with the ids at these places of `depends_on`. */
  | UnknownParents;
type UnknownParents = { kind: "unknown_parents"; places: { at: number; nth: number; id: string }[] };

/** A flow and the jobs it asks for, each with its part in it. */
export type DraftedFlow = { flow: Flow; submissions: readonly Submission[]; drafts: readonly Draft[] };

/**
 * (nothing) → queued | scheduled | blocked, all of them or none: jobs that wait for others, and which waits for which. It
 * must be a flow without `flowFaults`; `then`, if any, is the last of the outcomes. A flow in which no one waits is a
 * batch like any other. If a flow was stored under its keys before and some of its jobs were removed since, that is a
 * `mismatch`: neither what is left nor another flow would be the answer. Throws like `enqueue`.
 *
 * @example
 * const outcome = await submitFlow(deps, { jobs: [a, b], then }, { idempotency_ttl_seconds: 86_400 });
 */
export async function submitFlow(deps: Deps, flow: Flow, options: EnqueueOptions): Promise<FlowOutcome> {
  if (!isFlow(flow)) return enqueueAll(deps, flow.jobs, options);
  return sendAll(deps, jobsOf(flow), async (all) => {
    const drafted = await draftFlow(flow, all);
    return asInsert(deps, all, async () => {
      const stored = await lookAgain(
        async (postponed) => (await storeFlows(executeOn(deps.database), [drafted], { ...options, postponed }))[0],
        options,
      );
      return answerFlow(deps, drafted, stored);
    });
  });
}

/** Its jobs, and `then`. */
export const jobsOf = ({ jobs, then }: Flow): readonly Submission[] => (then ? [...jobs, then] : jobs);

export async function draftFlow(flow: Flow, submissions: readonly Submission[]): Promise<DraftedFlow> {
  return { flow, submissions, drafts: tied(flow, await draftsOf(submissions), { flow_id: newId() }) };
}

/** What became of each job of a flow, or why nothing did. Nothing was reported yet. */
export type StoredFlow = Outcomes | UnknownParents;

/**
 * One look at the keys of all of them, and one statement for all that are new. Undefined for those whose keys are another's
 * among them: look again. Throws, and nothing is stored, when a key was taken in between, or a parent is locked.
 */
export async function storeFlows(
  execute: Execute,
  flows: readonly DraftedFlow[],
  options: EnqueueOptions,
): Promise<(StoredFlow | undefined)[]> {
  const all = flows.flatMap(({ drafts }) => drafts);
  const known = await look(execute, all);
  const outcomes: Outcomes = new Map();
  settleConflicts(all, known.keyed, outcomes);
  const unknown = await missingAmong(execute, all);
  const isNew = ({ drafts }: DraftedFlow) => !drafts.some((one) => outcomes.has(one) || namesAny(one, unknown));
  const first = oncePerKeys(flows.filter(isNew)).flatMap(({ drafts }) => drafts);
  if (first.length > 0) {
    const strictly = { ...options, strict: true };
    for (const [one, outcome] of await enqueueUnique(execute, first, known.held, strictly)) outcomes.set(one, outcome);
  }
  return flows.map(({ flow, drafts }) => {
    const settled = drafts.filter((one) => outcomes.has(one));
    if (settled.length === 0 && drafts.some((one) => namesAny(one, unknown)))
      return { kind: "unknown_parents", places: placesAmong(flow, unknown) };
    if (settled.length === 0) return undefined;
    const isRefused = settled.some((one) => outcomes.get(one)?.kind === "conflict");
    const whole = settled.length === drafts.length || isRefused;
    const answers: Outcomes = whole ? outcomes : new Map(drafts.map((one) => [one, { kind: "mismatch" }]));
    return new Map(
      drafts.flatMap((one) => {
        const answer = answers.get(one);
        return answer ? [[one, answer] as const] : [];
      }),
    );
  });
}

/** Without those that have a key of an earlier one: a flow is stored whole, or not at all. */
function oncePerKeys(flows: readonly DraftedFlow[]): DraftedFlow[] {
  const seen = new Set<string>();
  return flows.filter(({ drafts }) => {
    const keys = drafts.flatMap(({ tenant, key }) => (key === null ? [] : [nameOf(tenant, key)]));
    const taken = keys.some((key) => seen.has(key));
    for (const key of keys) seen.add(key);
    return !taken;
  });
}

/** Reports what became of its jobs, once that is committed. */
export function answerFlow(
  deps: Pick<Deps, "observe">,
  { submissions, drafts }: DraftedFlow,
  stored: StoredFlow,
): FlowOutcome {
  return stored instanceof Map ? answerAll(deps, submissions, drafts, stored) : stored;
}

const namesAny = ({ tenant, flow }: Draft, unknown: ReadonlySet<string>) =>
  unknown.size > 0 && (flow?.parents.some(({ id }) => unknown.has(nameOf(tenant, id))) ?? false);

/**
 * What all jobs of it have in common, when a job adds them: they come after those of its flow. `others_wait` when jobs
 * that were there before are to wait for each of them.
 */
type InFlow = Pick<FlowPart, "flow_id" | "spawned_by"> & { first_place?: number; others_wait?: boolean };

/** The drafts, each with its part in the flow. None waits for the job that adds them, as that one ends with it. */
export function tied(
  { jobs, then }: Flow,
  drafts: readonly Draft[],
  { flow_id, spawned_by, first_place = 0, others_wait = false }: InFlow,
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
    parents: depends_on.filter((one) => one !== spawned_by).map(parentOf),
  }));
  const last = then && { ref: null, on_parent_failure: "run" as const, parents: everyone() };
  const all = last ? [...ties, last] : ties;
  const waited_for = new Set(all.flatMap(({ parents }) => parents.map(({ id }) => id)));
  return drafts.map((draft, at) => {
    const tie = all[at];
    const has_children = others_wait || waited_for.has(draft.id);
    return tie ? { ...draft, flow: { ...tie, flow_id, spawned_by, place: first_place + at, has_children } } : draft;
  });
}

type Outcomes = Map<Draft, EnqueueOutcome>;

/** The parents that should have been there before, and are not, as `nameOf` has them. */
async function missingAmong(execute: Execute, drafts: readonly Draft[]): Promise<ReadonlySet<string>> {
  const own = new Set(drafts.map(({ id }) => id));
  const missing = new Map<string, string>();
  for (const { tenant, flow } of drafts)
    for (const { id } of flow?.parents ?? []) if (!own.has(id)) missing.set(nameOf(tenant, id), id);
  if (missing.size === 0) return new Set();
  const params = [uuidArray([...new Set(missing.values())])];
  const rows = await execute<{ tenant: string; id: string }>({ text: existing, params });
  for (const { tenant, id } of rows) missing.delete(nameOf(tenant, id));
  return new Set(missing.keys());
}

const existing = "SELECT tenant, id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[])";
const nameOf = (tenant: string, id: string) => `${tenant} ${id}`;

function placesAmong({ jobs }: Flow, unknown: ReadonlySet<string>) {
  return jobs.flatMap(({ tenant, depends_on = [] }, at) =>
    depends_on.flatMap((id, nth) => (unknown.has(nameOf(tenant, id)) ? [{ at, nth, id }] : [])),
  );
}
