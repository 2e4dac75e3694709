import {
  checkSpawned,
  createParents,
  createSpawn,
  createSteps,
  jobStatuses,
  ParkedError,
  type Json,
  type ParentCounts,
} from "@atlasqueue/contract";
import type { BackoffPolicy, Logger } from "@atlasqueue/core";
import { childrenFaults, flowOf } from "@atlasqueue/core/internal";
import { newId, type Flow } from "@atlasqueue/core/internal/http";
import { verdictAfterFailure } from "@atlasqueue/core/internal/worker";
import { runAttempt, succeeded, type Ending } from "@atlasqueue/runtime";
import type { TestClock } from "./clock.ts";
import type { Kept, Store } from "./store.ts";

/** What `defineHandler` makes, that of `@atlasqueue/worker` or of `@atlasqueue/client`. */
export type TestHandler = {
  readonly type: string;
  readonly options: { timeoutSeconds?: number; keepResult?: boolean; size?: number };
  readonly run: (payload: never, context: never) => Promise<unknown>;
};

export type Runner = { store: Store; clock: TestClock; backoff: BackoffPolicy; logger: Logger };

/** Run one attempt of a job, and store what comes of it. Rejects if the jobs that it adds cannot be stored. */
export async function runJob(runner: Runner, one: Kept, handler: TestHandler): Promise<void> {
  const { job } = one;
  const at = runner.clock.now().toISOString();
  const started = { status: "running", started_at: at, updated_at: at, worker_id: "test" };
  Object.assign(job, started, { waits_for: null, expires_at: null, attempts: job.attempts + 1 });
  const abort = new AbortController();
  const { context, spawned } = contextOf(runner, one, abort.signal);
  const { timeoutSeconds, keepResult } = handler.options;
  const limits = { timeout_seconds: job.timeout_seconds ?? timeoutSeconds, abort: abort.abort.bind(abort) };
  let parked = false;
  const ending = await runAttempt(limits, async (startClock) => {
    startClock();
    const run = handler.run as (payload: Json, given: object) => Promise<unknown>;
    const returned = await run(structuredClone(job.payload), context).catch((error: unknown) => {
      parked = error instanceof ParkedError;
      throw error;
    });
    return succeeded(keepResult === false ? null : returned, spawned());
  });
  if (parked) Object.assign(job, { status: "scheduled", attempts: job.attempts - 1 });
  else if (ending.kind === "succeeded") succeed(runner.store, one, ending);
  else fail(runner, one, ending);
}

function succeed(store: Store, one: Kept, { result, spawned }: Extract<Ending, { kind: "succeeded" }>): void {
  const { job } = one;
  if (spawned) {
    const flow = flowOf({ jobs: spawned.children }, { tenant: "default" });
    const [fault] = childrenFaults(flow.jobs);
    if (fault) return store.end(one, "dead", `SpawnError: ${fault.pointer} ${fault.message}`);
    job.flow_id ??= newId();
    const waits = ({ parents }: Kept) => spawned.dependants_wait && parents.some(({ id }) => id === job.id);
    const dependants = store.all().filter(waits);
    const added = insertFlow(store, flow.jobs, { flow_id: job.flow_id, spawner: job.id });
    for (const waiting of dependants)
      waiting.parents = [...waiting.parents, ...added.map(({ id }) => ({ ref: id, id }))];
  }
  Object.assign(job, { result, progress: null });
  store.end(one, "succeeded");
}

function fail({ store, clock, backoff }: Runner, one: Kept, failure: Extract<Ending, { kind: "failed" }>): void {
  const { job, request } = one;
  const { error, error_data, ...failed } = failure;
  const attempt = { attempts: job.attempts, max_attempts: job.max_attempts, backoff: request.backoff ?? null };
  const verdict = verdictAfterFailure({ ...attempt, ...failed }, backoff, 0);
  Object.assign(job, { last_error: error, updated_at: clock.now().toISOString() });
  if (verdict.kind === "dead") {
    Object.assign(job, { dead_reason: verdict.reason, result: error_data === undefined ? null : { error_data } });
    return store.end(one, "dead", error);
  }
  const run_at = new Date(clock.now().getTime() + verdict.delay_ms).toISOString();
  Object.assign(job, { status: "failed", run_at });
}

/** What a handler is given besides its payload, whichever package it was defined with. */
function contextOf({ store, clock, logger }: Runner, one: Kept, signal: AbortSignal) {
  const { job } = one;
  const spawn = createSpawn(checkSpawned);
  const context = {
    ...createSteps({
      load: async () => one.steps,
      async store(name, result) {
        if (!one.steps.has(name)) one.steps.set(name, result);
        return one.steps.get(name) as Json;
      },
      async park(name, timeout_seconds) {
        const now_ms = clock.now().getTime();
        const until_ms = one.waits.get(name) ?? now_ms + timeout_seconds * 1_000;
        one.waits.set(name, until_ms);
        if (one.signals.has(name)) return { timed_out: false, payload: one.signals.get(name) as Json };
        if (until_ms <= now_ms) return { timed_out: true };
        Object.assign(job, { waits_for: name, run_at: new Date(until_ms).toISOString() });
        return "parked";
      },
    }),
    ...createParents({
      first: async () => parentsOf(store, one),
      page: () => Promise.reject(new Error("one page only")),
    }),
    spawn: spawn.spawn,
    job: { ...job, tenant: "default", attempt: job.attempts },
    signal,
    logger,
    log: (line: string) => void job.log.push(String(line)),
    progress: (done: Json, note?: string) =>
      void (job.progress = typeof done === "number" ? { done, ...(note === undefined ? {} : { note }) } : done),
  };
  return { context, spawned: spawn.spawned };
}

function parentsOf(store: Store, { parents }: Kept) {
  if (parents.length === 0) return undefined;
  const parent_counts = Object.fromEntries(jobStatuses.map((status) => [status, 0])) as ParentCounts;
  const found = parents.map(({ ref, id }) => {
    const { status, result } = store.get(id)?.job ?? { status: null, result: null };
    if (status) parent_counts[status] += 1;
    return [ref, { id, status, result }] as const;
  });
  return { parents: Object.fromEntries(found), parent_counts, parents_complete: true };
}

/** Store jobs that may wait for one another. Those that a job added wait for it first. */
export function insertFlow(store: Store, jobs: Flow["jobs"], around: { flow_id: string | null; spawner?: string }) {
  const { flow_id, spawner } = around;
  const ids = jobs.map(() => newId());
  const byRef = new Map(jobs.map(({ ref }, at) => [ref, ids[at] as string]));
  const first = spawner === undefined ? [] : [{ ref: spawner, id: spawner }];
  return jobs.map(({ depends_on = [], on_parent_failure = "cancel", ...job }, at) => {
    const parents = [...first, ...depends_on.map((ref) => ({ ref, id: byRef.get(ref) ?? ref }))];
    return store.insert({ ...job, id: ids[at] as string, parents, on_parent_failure, flow_id });
  });
}
