import type { JobRow } from "../../database/schema/index.ts";
import type { Execute } from "../../database/statement.ts";
import type { HeldKey } from "../find-key-holders.ts";
import { applySubmissions, type AppliedSubmissions, type Step } from "../apply-submissions.ts";
import { expiryOf, newRow, termsOf } from "../drafts.ts";
import type { EnqueueOutcome, KnownJob } from "../outcome.ts";
import type { Draft, InsertOptions } from "../insert-jobs.ts";
import { holderIdOf, planUnique, uniqueNameOf, type Join, type Make, type Plan } from "./plan.ts";

type Outcomes = Map<Draft, EnqueueOutcome>;

/**
 * Store drafts, some of which other jobs have a say in, by what their unique keys named a moment ago: all of them but those
 * that are refused. Throws like `applySubmissions`. With `strict` nothing is stored when one is refused.
 * See decisions/2026-11-20-uniqueness.md.
 */
export async function enqueueUnique(
  execute: Execute,
  drafts: readonly Draft[],
  held: readonly HeldKey[],
  { idempotency_ttl_seconds, postponed, strict = false }: InsertOptions,
): Promise<Outcomes> {
  const unique = drafts.filter(({ request }) => request.unique);
  const plan = planUnique(drafts, new Map(unique.map((one) => [one, uniqueNameOf(one)])), held);
  // In an all-or-nothing call, a job that collides with its neighbour is refused like any other.
  if (strict)
    for (const [one, { draft }] of plan.rejects) plan.refused.set(one, { kind: "conflict", job_id: draft.id });
  if (strict && plan.refused.size > 0) return plan.refused;
  const steps = stepsOf(plan, () => idempotency_ttl_seconds);
  // A request answered with what exists, and without a key to remember, changes nothing.
  const needed = steps.filter((one) => one.role === "make" || one.draft.key !== null || one.seen);
  const done = needed.length > 0 ? await applySubmissions(execute, needed, "insert", { postponed }) : undefined;
  const outcomes = outcomesOf(plan, done);
  for (const [one, { draft }] of plan.rejects) outcomes.set(one, { kind: "conflict", job_id: draft.id });
  return new Map([...plan.refused, ...outcomes]);
}

/** What the statement should do about each draft of a plan. */
export function stepsOf({ makes, joins }: Plan, ttlOf: (draft: Draft) => number): Step[] {
  return [
    ...makes.map((one): Step => {
      const { draft, slot } = one;
      const window_seconds = draft.request.unique?.window_seconds ?? null;
      const unique = slot && { key: slot.name.key, window_seconds };
      return {
        draft: storedAs(one),
        role: "make",
        names: draft.id,
        key_ttl_seconds: ttlOf(draft),
        unique,
        seen: slot?.seen,
      };
    }),
    ...joins.map(({ draft, slot, replaces }): Step => {
      const seen = replaces && !slot.make ? slot.seen : undefined;
      const writes = seen !== undefined && slot.replacement === draft;
      return { draft, role: "join", names: holderIdOf(slot), key_ttl_seconds: ttlOf(draft), seen, writes };
    }),
  ];
}

function storedAs({ draft, content }: Make): Draft {
  return { ...draft, payload: content.payload, request: content.request, trace: content.trace };
}

function outcomesOf({ makes, joins }: Plan, done: AppliedSubmissions | undefined): Outcomes {
  const outcomes: Outcomes = new Map();
  const made = new Map<Make, JobRow>();
  for (const one of makes) {
    if (!done) continue;
    made.set(one, madeRow(storedAs(one), done));
    outcomes.set(one.draft, { kind: "created", job: made.get(one) as JobRow });
  }
  for (const one of joins) {
    const job = one.slot.make ? made.get(one.slot.make) : holderAfter(one, done);
    if (job) outcomes.set(one.draft, joined(one, job, done));
  }
  return outcomes;
}

/** The row of a job just made or admitted. */
function madeRow(draft: Draft, { created_at, made, defaults }: AppliedSubmissions): JobRow {
  const { status, run_at } = made.get(draft.id) ?? { status: "queued", run_at: created_at };
  return newRow(draft, {
    created_at,
    defaults,
    run_at: new Map(status === "scheduled" || run_at > created_at ? [[draft.id, run_at]] : []),
    blocked: new Set(status === "blocked" ? [draft.id] : []),
  });
}

/** The outcome of a draft answered with another job. Signalled if that job has moved within its queue. */
export function joined({ slot, replaces }: Join, job: KnownJob, done: AppliedSubmissions | undefined): EnqueueOutcome {
  if (!replaces) return { kind: "existing", job };
  const was = done?.replaced.get(job.id)?.was;
  const moved = was !== undefined && (was !== "queued" || job.priority !== slot.job?.priority);
  return { kind: "replaced", job, ready: moved && job.status === "queued" };
}

/** The job of a slot, after being replaced, if it was. */
export function holderAfter(
  { slot: { job, replacement } }: Join,
  done: AppliedSubmissions | undefined,
): KnownJob | undefined {
  const now = job && done?.replaced.get(job.id);
  if (!job || !done || !now || !replacement) return job;
  const { request, trace } = replacement;
  const { was: _was, ...times } = now;
  return {
    ...job,
    ...times,
    type: request.type,
    priority: request.priority,
    ...termsOf(replacement, done.defaults),
    tags: request.tags ?? null,
    expires_at: expiryOf(request, now.updated_at),
    attempts: 0,
    started_at: null,
    worker_id: null,
    lease_token: null,
    traceparent: trace?.traceparent ?? null,
    tracestate: trace?.tracestate ?? null,
  };
}
