import { limits } from "@atlasqueue/contract";
import { abort, createSettler, newRun, nextOf, traceSettled, type Ending, type Run } from "@atlasqueue/runtime";
import { AtlasQueueError, isDatabaseAway } from "../errors.ts";
import { randomToken } from "../idempotency-key.ts";
import type { LeasedJob } from "../resources/leases.ts";
import { isFinal, isLost, isRefusal, isRefusalToAdd } from "./answers.ts";
import type { WorkEvent } from "./events.ts";
import { holdOn, type HeldJob } from "./held-jobs.ts";
import type { WorkerParts } from "./parts.ts";

/** It goes back with no attempt counted: its handler was not let finish, or (`later`) there is none. */
type Released = { kind: "released"; later?: true };
/** A job's outcome on its way to the API, and how often it was refused, of late. */
type Settlement<Outcome = Ending | Released> = { job: HeldJob; outcome: Outcome; refusals: number };
type Success = Settlement<Extract<Ending, { kind: "succeeded" }>>;
type Failure = Settlement<Extract<Ending, { kind: "failed" }>>;
type Became = Extract<WorkEvent, { event: "job_settled" }>["outcome"];

/** The last words of a worker that stops: one that is not answered leaves time for another. */
const last_try_ms_max = 2_000;
const try_ms_max = 10_000;
const batch_max = 200;
/** Below the 1 MiB of a body, leaving room for what surrounds the results. */
const batch_bytes_max = 900_000;
/** As JSON, an error text may take six bytes a character, and its data comes on top. */
const error_bytes_max = 25_000 + limits.error_data_bytes_max;
const surrounding_bytes = 200;

/**
 * Sends outcomes to the API. While that is away it keeps trying until the lease ends, and for as long as the API says that
 * its database is away.
 */
export function createRemoteSettler(parts: WorkerParts) {
  const { calls, held, observe, tracing, worker_id, lease_seconds, types, start } = parts;
  const [stopping, over] = [parts.stages.draining.signal, parts.stages.late.signal];
  /** Two thirds of a lease are left when its job is settled. If the response is lost, another try fits into them. */
  const timeoutMs = Math.min(try_ms_max, (lease_seconds * 1_000) / 3);
  const call = () => ({ retries: 0, ...(over.aborted ? { timeoutMs: last_try_ms_max } : { signal: over, timeoutMs }) });

  const send = async (batch: Settlement[]): Promise<[]> => {
    const [first] = batch as [Settlement];
    const goes_on = !stopping.aborted && first.job.goes_on;
    const asked_before = first.job.next_token;
    const lease_token = goes_on ? (asked_before ?? randomToken()) : undefined;
    for (const { job } of batch) job.next_token = lease_token ?? job.next_token;
    try {
      await (addsJobs(first) ? sendAdding(first) : sendAll(batch, lease_token));
    } catch (error) {
      // Once more, without asking for the next ones. What was done already stays done: an ack gets the same outcome again, a nack or a
      // release as a lost lease.
      if (error === over.reason) return send(batch);
      throw error;
    }
    // An answer that was lost may have had next jobs, which nobody asks for any more.
    if (!goes_on && asked_before !== undefined) await releaseNext(asked_before);
    return [];
  };
  const releaseNext = (token: string): Promise<unknown> =>
    calls.releaseLease(token, { retries: 0, timeoutMs: last_try_ms_max }).catch(() => {});

  const sendAll = async (batch: Settlement[], lease_token: string | undefined): Promise<void> => {
    const acks = batch.filter((item) => item.outcome.kind === "succeeded") as Success[];
    const nacks = batch.filter((item) => item.outcome.kind === "failed") as Failure[];
    const releases = batch.filter((item) => item.outcome.kind === "released") as Settlement<Released>[];
    const request = {
      acks: acks.map(({ job, outcome }) => ({ ...heldFields(job), result: outcome.result })),
      nacks: nacks.map(({ job, outcome }) => ({ ...heldFields(job), ...nackFields(outcome) })),
      ...(releases.length > 0 && {
        releases: releases.map(({ job, outcome }) => ({ ...heldFields(job), later: outcome.later })),
      }),
      ...(lease_token !== undefined && { next: { worker_id, lease_seconds, lease_token, types: types && [...types] } }),
    };
    const asked_at_ms = performance.now();
    const name = acks.length > 0 ? "ack" : "nack";
    const outcomes = await traceSettled(tracing, name, batch, () => calls.settle(request, call()));
    const reported = [...outcomes.acks, ...outcomes.nacks, ...(outcomes.releases ?? [])];
    for (const [at, { job, outcome }] of [...acks, ...nacks, ...releases].entries()) {
      const became = reported[at]?.outcome;
      if (became === "succeeded" || became === "failed" || became === "dead") settled(job, became, outcome);
      else if (became === "queued" || became === "scheduled") settled(job, "released", outcome);
      else lost(job);
    }
    const { next = [] } = outcomes;
    // In this turn, before anything else finds the slots free.
    const before = acks.map(({ job }) => job);
    if (next.length > 0) start(next, asked_at_ms, new Map(next.map((leased) => [leased, runOf(leased, before)])));
  };

  const sendAdding = async (item: Success): Promise<void> => {
    const { job, outcome } = item;
    const { children, dependants_wait: dependantsWait } = outcome.spawned ?? {};
    const options = { children, dependantsWait, ...call() };
    try {
      await traceSettled(tracing, "ack", [item], () => calls.ack(job.leased, outcome.result, options));
      settled(job, "succeeded", outcome);
    } catch (error) {
      if (!isLost(error)) throw error;
      lost(job);
    }
  };

  /**
   * Whether these outcomes will not be accepted as they are. Of several a gateway's word is enough: each by itself may be small
   * enough for it. Counts how often they have been refused.
   */
  const areRefused = (batch: readonly Settlement[], error: unknown): boolean => {
    const is_refusal = isRefusal(error) || (batch.some(addsJobs) && isRefusalToAdd(error));
    for (const item of batch) item.refusals = is_refusal ? item.refusals + 1 : 0;
    return is_refusal && (batch.length > 1 || batch.some(({ refusals }) => isFinal(error, refusals)));
  };

  const judge = (error: unknown, batch: readonly Settlement[]): "again" | "refused" => {
    if (areRefused(batch, error)) {
      // Both halves go under one token: the second would have the next jobs of the first once more.
      if (batch.length > 1) for (const { job } of batch) held.endRun(job);
      return "refused";
    }
    observe({ event: "api_unavailable", during: "settle", error });
    const jobs = batch.map(({ job }) => job);
    if (isDatabaseAway(error)) holdOn(jobs);
    for (const job of jobs) if (performance.now() >= job.ends_at_ms) lost(job);
    // The next jobs of a request that nobody repeats any more.
    const [token] = jobs.flatMap(({ next_token }) => next_token ?? []);
    if (token !== undefined && !jobs.some((job) => held.holds(job))) void releaseNext(token);
    return "again";
  };

  const instead = (item: Settlement, error: unknown): Settlement | undefined => {
    const { job, outcome } = item;
    // The `next` that goes with it may be what is refused.
    if (job.goes_on) {
      held.endRun(job);
      return item;
    }
    observe({ event: "settlement_refused", job: job.leased.job, error });
    if (outcome.kind !== "succeeded") {
      held.leave(job);
      return undefined;
    }
    const reason = (error instanceof AtlasQueueError && error.problem?.detail) || String(error);
    const text = outcome.spawned ? `SpawnError: ${reason}` : "Refused: the API would not store the result";
    return { ...item, outcome: { kind: "failed", error: text, retryable: true } };
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

  const settler = createSettler<Settlement>({
    items_max: batch_max,
    bytes_max: batch_bytes_max,
    bytesOf: ({ outcome }) => surrounding_bytes + bytesOf(outcome),
    fits,
    isHeld: ({ job }) => held.holds(job),
    send,
    judge,
    instead,
  });
  return {
    ...settler,
    settle: (job: HeldJob, outcome: Ending): void => settler.settle({ job, outcome, refusals: 0 }),
    async release(jobs: readonly HeldJob[], why: string, later = false): Promise<number> {
      for (const job of jobs) {
        held.handlerEnded(job);
        abort(job.abort, new DOMException(why, "AbortError"));
        // A renewal whose response was lost may hold it.
        job.ends_at_ms = Math.max(job.ends_at_ms, performance.now() + lease_seconds * 1_000);
        settler.settle({ job, outcome: { kind: "released", ...(later && { later }) }, refusals: 0 });
      }
      return jobs.length;
    },
  };
}

/**
 * The next jobs are asked for all acks of a request alike, and repeated under its token. An outcome that adds jobs goes
 * alone.
 */
const fits = (first: Settlement, item: Settlement): boolean =>
  !addsJobs(first) &&
  !addsJobs(item) &&
  item.job.goes_on === first.job.goes_on &&
  item.job.next_token === first.job.next_token;

const addsJobs = (item: Settlement): item is Success =>
  item.outcome.kind === "succeeded" && item.outcome.spawned !== undefined;

/** The run that a job belongs to which was leased as these were acked. */
function runOf({ job }: LeasedJob, acked: readonly HeldJob[]): Run {
  const before = acked.find(({ leased }) => leased.job.group === job.group && leased.job.queue === job.queue);
  return before ? nextOf(before.run) : newRun();
}

const heldFields = ({ leased }: HeldJob) => ({ id: leased.job.id, lease_token: leased.lease_token });

function nackFields({ error, error_data, retryable, delay_ms }: Failure["outcome"]) {
  return {
    error,
    retry: retryable,
    ...(delay_ms === undefined ? {} : { delay_seconds: delay_ms / 1_000 }),
    ...(error_data === undefined ? {} : { error_data }),
  };
}

function bytesOf(outcome: Settlement["outcome"]): number {
  if (outcome.kind === "released") return 0;
  return outcome.kind === "succeeded" ? outcome.bytes : error_bytes_max;
}
