import { isLocked, KeysContendedError } from "../database/errors.ts";
import { pause } from "../pause.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import {
  findKeyHolders,
  type KeyHolders,
  hasKey,
  mismatchedDuplicates,
  oncePerKey,
  settleConflicts,
  resolveDuplicates,
  forgetSpentKeys,
} from "./find-key-holders.ts";
import { draft, newRow } from "./drafts.ts";
import { reportEnqueued, type EnqueueOutcome, type Submission } from "./outcome.ts";
import { enqueueUnique } from "./unique/enqueue.ts";
import { insertJobs, type Draft, type InsertOptions } from "./insert-jobs.ts";
import { uniqueNameOf } from "./unique/plan.ts";
import { isTakenMeanwhile } from "../database/clauses.ts";

export type EnqueueOptions = Omit<InsertOptions, "strict">;
type Outcomes = Map<Draft, EnqueueOutcome>;

/** Looks at the keys in one go: another process may take one between our look and our statement. */
const rounds_max = 3;

/**
 * (nothing) → queued | scheduled | blocked. A job and its keys are committed together, in one statement; when this
 * returns `created`, it is durable. Outcomes are in the order of the submissions. Throws when the database is away, or
 * when a key was taken again and again: the outcome is then unknown, and the same keys may be sent again.
 *
 * @example
 * const [outcome] = await enqueue(deps, [{ tenant: "default", request, idempotency_key: "order-17" }], options);
 */
export async function enqueue(
  deps: Deps,
  submissions: readonly Submission[],
  options: EnqueueOptions,
): Promise<EnqueueOutcome[]> {
  const drafts = submissions.map(draft);
  const outcomes: Outcomes = new Map();
  await lookAgain(async (postponed) => {
    await store(executeOn(deps.database), drafts, outcomes, { ...options, postponed });
    return outcomes.size === drafts.length || undefined;
  }, options);
  return told(deps, submissions, drafts, outcomes).filter((one) => one !== undefined);
}

/** `enqueue` in one go: undefined means that the key was taken again and again. Send only those again. */
export async function enqueueOnce(
  execute: Execute,
  deps: Pick<Deps, "observe">,
  submissions: readonly Submission[],
  options: EnqueueOptions,
): Promise<(EnqueueOutcome | undefined)[]> {
  const drafts = submissions.map(draft);
  const outcomes: Outcomes = new Map();
  await store(execute, drafts, outcomes, options).catch((error: unknown) => {
    // What a round before has stored must not be sent again.
    if (outcomes.size === 0 || !(isLocked(error) || isTakenMeanwhile(error))) throw error;
  });
  return told(deps, submissions, drafts, outcomes);
}

function told(
  deps: Pick<Deps, "observe">,
  submissions: readonly Submission[],
  drafts: readonly Draft[],
  outcomes: Outcomes,
): (EnqueueOutcome | undefined)[] {
  return drafts.map((one, at) => {
    const outcome = outcomes.get(one);
    if (outcome) reportEnqueued(deps.observe, submissions[at] as Submission, outcome);
    return outcome;
  });
}

/**
 * Each statement is its own transaction, so that no one waits for us between two of them. With `strict` all are stored in
 * one, or none when one is refused.
 */
export async function store(
  execute: Execute,
  drafts: readonly Draft[],
  outcomes: Outcomes,
  options: InsertOptions,
): Promise<void> {
  const { strict = false } = options;
  if (strict) for (const one of mismatchedDuplicates(drafts)) outcomes.set(one, { kind: "mismatch" });
  for (let round = 0; round < rounds_max; round += 1) {
    const open = drafts.filter((one) => !outcomes.has(one));
    if (open.length === 0) return;
    const related = open.some(isRelated);
    // Most jobs have new keys and ask for nothing more: then there is nothing to look up first.
    const known = related || strict || round > 0 ? await look(execute, open) : nobody;
    settleConflicts(open, known.keyed, outcomes);
    if (strict && [...outcomes.values()].some(isRefusal)) return;
    const first = oncePerKey(open.filter((one) => !outcomes.has(one)));
    if (related)
      for (const [one, outcome] of await enqueueUnique(execute, first, known.held, options)) outcomes.set(one, outcome);
    else if (first.length > 0) {
      // A group's job whose key exists refuses all: then look at the keys.
      const inserted = await insertJobs(execute, first, options).catch((error: unknown) => {
        if (round === 0 && isTakenMeanwhile(error)) return undefined;
        throw error;
      });
      if (!inserted) continue;
      for (const one of first)
        if (!inserted.taken.has(one.id)) outcomes.set(one, { kind: "created", job: newRow(one, inserted) });
    }
    resolveDuplicates(drafts, outcomes);
  }
}

export const isRefusal = ({ kind }: EnqueueOutcome) => kind === "mismatch" || kind === "conflict";

const nobody: KeyHolders = { keyed: [], spent: [], held: [] };
const isUnique = ({ request }: Draft) => request.unique !== undefined;

/** Whether other jobs have a say in what becomes of it, besides those of its group. */
export const isRelated = ({ request, flow }: Draft): boolean => request.unique !== undefined || flow !== undefined;

/** What the drafts' keys name now. Spent ones are free afterwards. */
export async function look(execute: Execute, drafts: readonly Draft[]): Promise<KeyHolders> {
  const known = await findKeyHolders(execute, drafts.filter(hasKey), drafts.filter(isUnique).map(uniqueNameOf));
  await forgetSpentKeys(execute, known.spent);
  return known;
}

const tries_max = 20;
const rest_ms_max = 20;

/**
 * A look and a statement that undoes itself when others took one of its keys in between: then look again. `once` may
 * also say by undefined that it came too late. When it meets a lock, it is tried once more with its groups `postponed`, and
 * when that was stored, `onPostponed` is called. Throws when the `tries` did not do.
 *
 * @example
 * const outcomes = await lookAgain((postponed) => storeAll(deps, drafts, { ...options, postponed }), { onPostponed });
 */
export async function lookAgain<T>(
  once: (postponed: boolean) => Promise<T | undefined>,
  { tries = tries_max, onPostponed }: { tries?: number; onPostponed?: (() => void) | undefined } = {},
): Promise<T> {
  let postponed = false;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (attempt > 1) await pause(rest_ms_max * Math.random() * attempt);
    try {
      const done = await once(postponed);
      if (done === undefined) continue;
      if (postponed) onPostponed?.();
      return done;
    } catch (error) {
      if (isLocked(error) && !postponed) postponed = true;
      else if (!isTakenMeanwhile(error)) throw error;
    }
  }
  throw new KeysContendedError();
}
