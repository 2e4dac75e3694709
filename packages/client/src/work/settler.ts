import type { Tracing } from "@atlasqueue/contract";
import { pause, traceReceived, traceSettled } from "@atlasqueue/runtime";
import { AtlasQueueError, isDatabaseAway } from "../errors.ts";
import { backoffMs } from "../http/retry.ts";
import { randomToken } from "../idempotency-key.ts";
import type { LeaseCalls, LeasedJob } from "../resources/leases.ts";
import { isLost } from "./answers.ts";
import { holdOn } from "./database-away.ts";
import type { Observe, WorkEvent } from "./events.ts";
import type { HeldJob, HeldJobs } from "./held-jobs.ts";
import { runOf, type Run } from "./runs.ts";
import {
  areRefused,
  heldFields,
  isFailure,
  isRelease,
  isSuccess,
  nackFields,
  takeBatch,
  type Settlement,
} from "./settlement.ts";

/** The worker that goes on with the groups of its jobs, and what starts the next ones. */
type GoingOn = {
  worker_id: string;
  lease_seconds: number;
  start(leased: LeasedJob, run: Run): Promise<void>;
  /** Aborts when nothing more may be leased. */
  stopping: AbortSignal;
  /** Aborts when what was leased may not be started any more: an answer that is still out may keep nothing waiting. */
  over: AbortSignal;
};

type Became = Extract<WorkEvent, { event: "job_settled" }>["outcome"];
/** Outcomes that go to the API one request after another. */
type Line = { waiting: Settlement[]; flushing: boolean };

/** Leases are running out meanwhile. */
const retry_ms_max = 2_000;
/** The last words of a worker that stops: one that is not answered leaves time for another. */
const last_try_ms_max = 2_000;

/**
 * Sends outcomes to the API. When idle, an outcome goes at once; those that come while a request is under way go
 * together in the next. While the API is away it keeps trying until the lease ends, and for as long as the API says that
 * its database is away. What has failed is in a line of its own: somebody may have locked just that job, which keeps no
 * other outcome waiting.
 */
export function createSettler(
  calls: LeaseCalls,
  held: HeldJobs,
  observe: Observe,
  { worker_id, lease_seconds, start, stopping, over }: GoingOn,
  tracing?: Tracing,
) {
  const ready: Line = { waiting: [], flushing: false };
  const again: Line = { waiting: [], flushing: false };
  const giveUp = new AbortController();
  /** Requests that failed, and rest until their next try. */
  let resting = 0;
  let idle: (() => void)[] = [];

  const traced = <T>(name: "ack" | "nack", batch: readonly Pick<Settlement, "job">[], settle: () => Promise<T>) =>
    traceSettled(
      tracing,
      name,
      batch.map(({ job: { leased, span } }) => ({ job: leased.job, span })),
      settle,
    );

  const call = () => ({ retries: 0, ...(over.aborted ? { timeoutMs: last_try_ms_max } : { signal: over }) });
  const isBusy = () => ready.flushing || again.flushing || resting > 0;

  const flushAll = async (line: Line): Promise<void> => {
    line.flushing = true;
    // After this turn of the event loop, so that handlers ending in the same turn share a request.
    await pause(0);
    while (line.waiting.length > 0) await deliver(takeBatch(line.waiting));
    line.flushing = false;
    if (!isBusy()) for (const resolve of idle.splice(0)) resolve();
  };
  const add = (line: Line, items: readonly Settlement[]): void => {
    line.waiting.push(...items);
    if (!line.flushing) void flushAll(line);
  };

  const deliver = async (all: readonly Settlement[]): Promise<void> => {
    const batch = all.filter(({ job }) => held.holds(job));
    if (batch.length === 0 || giveUp.signal.aborted) return;
    try {
      await send(batch);
    } catch (error) {
      // Once more, without asking for the next ones. What was done already stays done: an ack is told so again, a nack or a
      // release as a lost lease.
      if (error === over.reason) return await deliver(batch);
      if (areRefused(batch, error)) return await refused(batch, error);
      observe({ event: "api_unavailable", during: "settle", error });
      const jobs = batch.map(({ job }) => job);
      if (isDatabaseAway(error)) holdOn(jobs);
      for (const job of jobs) if (performance.now() >= job.ends_at_ms) lost(job);
      void tryAgain(batch);
    }
  };

  const tryAgain = async (batch: readonly Settlement[]): Promise<void> => {
    resting += 1;
    for (const item of batch) item.failures += 1;
    held.tell();
    const failures = Math.min(...batch.map((item) => item.failures));
    await pause(Math.min(backoffMs(failures, Math.random()), retry_ms_max), giveUp.signal);
    add(again, batch);
    resting -= 1;
  };

  const send = async (batch: Settlement[]): Promise<void> => {
    const [first] = batch;
    const goes_on = !stopping.aborted && (first?.job.goes_on ?? false);
    const asked_before = first?.job.next_token;
    const lease_token = goes_on ? (asked_before ?? randomToken()) : undefined;
    for (const { job } of batch) job.next_token = lease_token ?? job.next_token;
    await (first && batch.length === 1 && !goes_on ? sendOne(first) : sendAll(batch, lease_token));
    if (goes_on || asked_before === undefined) return;
    // An answer that was lost may have had next jobs, which nobody asks for any more.
    await calls.releaseLease(asked_before, { retries: 0, timeoutMs: last_try_ms_max }).catch(() => {});
  };

  const sendAll = async (batch: Settlement[], lease_token: string | undefined): Promise<void> => {
    const acks = batch.filter(isSuccess);
    const nacks = batch.filter(isFailure);
    const releases = batch.filter(isRelease);
    const request = {
      acks: acks.map(({ job, outcome }) => ({ ...heldFields(job), result: outcome.result })),
      nacks: nacks.map(({ job, outcome }) => ({ ...heldFields(job), ...nackFields(outcome) })),
      ...(releases.length > 0 && {
        releases: releases.map(({ job, outcome }) => ({ ...heldFields(job), later: outcome.later })),
      }),
      ...(lease_token !== undefined && { next: { worker_id, lease_seconds, lease_token } }),
    };
    const began_at = Date.now();
    const name = acks.length > 0 ? "ack" : "nack";
    const outcomes = await traced(name, batch, () => calls.settle(request, call()));
    const told = [...outcomes.acks, ...outcomes.nacks, ...(outcomes.releases ?? [])];
    for (const [at, { job, outcome }] of [...acks, ...nacks, ...releases].entries()) {
      const became = told[at]?.outcome;
      if (became === "succeeded" || became === "failed" || became === "dead") settled(job, became, outcome);
      else if (became === "queued" || became === "scheduled") settled(job, "released", outcome);
      else lost(job);
    }
    const { next = [] } = outcomes;
    if (next.length === 0) return;
    traceReceived(
      tracing,
      next.map(({ job }) => job),
      began_at,
    );
    // In this turn, before anything else finds the slots free.
    const before = acks.map(({ job }) => job);
    for (const leased of next) void start(leased, runOf(leased, before));
  };

  const sendOne = async ({ job, outcome }: Settlement): Promise<void> => {
    try {
      if (outcome.kind === "succeeded") {
        const { children, dependants_wait: dependantsWait } = outcome.spawned ?? {};
        const added = { children, dependantsWait };
        await traced("ack", [{ job }], () => calls.ack(job.leased, outcome.result, { ...added, ...call() }));
        return settled(job, "succeeded", outcome);
      }
      if (outcome.kind === "released") {
        await traced("nack", [{ job }], () => calls.release(job.leased, { later: outcome.later, ...call() }));
        return settled(job, "released", outcome);
      }
      const { error, retry, delay_seconds: delaySeconds, error_data: data } = nackFields(outcome);
      const options = { retry, delaySeconds, data };
      const nack = () => calls.nack(job.leased, error, options, call());
      const { status } = await traced("nack", [{ job }], nack);
      settled(job, status === "dead" ? "dead" : "failed", outcome);
    } catch (error) {
      if (!isLost(error)) throw error;
      lost(job);
    }
  };

  /** An outcome the API will not accept must not hold up its neighbours, nor its own job's failure. */
  const refused = async (batch: Settlement[], error: unknown): Promise<void> => {
    const [first] = batch;
    if (batch.length > 1 || !first || first.job.goes_on) {
      // What is refused may be the `next` that comes with it.
      for (const { job } of batch) job.goes_on = false;
      for (const item of batch) await deliver([item]);
      return;
    }
    const { job, outcome } = first;
    observe({ event: "settlement_refused", job: job.leased.job, error });
    if (outcome.kind !== "succeeded") return held.leave(job);
    const told = (error instanceof AtlasQueueError && error.problem?.detail) || String(error);
    const text = outcome.spawned ? `SpawnError: ${told}` : "Refused: the API would not store the result";
    await deliver([{ ...first, outcome: { kind: "failed", error: text, retryable: true } }]);
  };

  const settled = (job: HeldJob, became: Became, outcome: Settlement["outcome"]): void => {
    held.leave(job);
    const error = outcome.kind === "failed" ? { error: outcome.error } : {};
    observe({ event: "job_settled", job: job.leased.job, outcome: became, ...error });
  };
  const lost = (job: HeldJob): void => {
    held.leave(job);
    observe({ event: "lease_lost", job: job.leased.job, during: "settling" });
  };

  return {
    settle(job: HeldJob, outcome: Settlement["outcome"]): void {
      add(ready, [{ job, outcome, failures: 0, refusals: 0 }]);
    },
    /** Resolves when everything given so far has been settled or given up. */
    drained: () => (isBusy() ? new Promise<void>((resolve) => idle.push(resolve)) : Promise.resolve()),
    /** Stop waiting for an API that is away. */
    giveUp: () => giveUp.abort(),
  };
}
