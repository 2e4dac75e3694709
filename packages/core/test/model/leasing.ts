import { ended, held, type Model, type ModelJob, type Taken } from "./state.ts";
import { advanceEnded } from "./upkeep.ts";

/** Renew leases. Returns the jobs that are lost. */
export function extend(model: Model, leases: readonly Taken[], seconds: number): number[] {
  const until = model.now + seconds * 1_000;
  const lost: number[] = [];
  for (const lease of leases) {
    const job = held(model, lease);
    if (job) job.locked_until = until;
    else lost.push(lease.job);
    lookBy(model, lease.token, until);
  }
  return lost;
}

/** The sweep must look at a claim no later than its leases end. */
function lookBy(model: Model, token: number, until: number): void {
  const claimed = model.claims.get(token);
  if (claimed) claimed.check_at = Math.min(claimed.check_at, until);
}

export function heartbeat(model: Model, lease: Taken, seconds: number): string {
  const job = held(model, lease);
  if (!job) return model.jobs.has(lease.job) ? "lease_lost" : "unknown";
  job.locked_until = model.now + seconds * 1_000;
  lookBy(model, lease.token, job.locked_until);
  return "extended";
}

/** Whether the last thing that happened under this lease was its settlement, and nothing since. */
export const settledUnder = (model: Model, { job, token }: Taken) =>
  model.jobs.get(job)?.token === token ? model.jobs.get(job)?.status : undefined;

export function complete(model: Model, leases: readonly Taken[]): string[] {
  const outcomes = leases.map((lease) => {
    const job = held(model, lease);
    if (!job) return settledUnder(model, lease) === "succeeded" ? "applied" : "lease_lost";
    Object.assign(job, { status: "succeeded", finished_at: model.now, locked_until: null, active_group_key: false });
    ended(model, job);
    return "applied";
  });
  advanceEnded(model, leases);
  return outcomes;
}

/** Each is dead, or tried again after a delay. */
export function fail(model: Model, leases: readonly Taken[], delay_ms: number | "dead"): string[] {
  const outcomes = leases.map((lease) => {
    const job = held(model, lease);
    if (!job) {
      const status = settledUnder(model, lease);
      if (status === "dead") return "dead";
      return status === "failed" || status === "queued" ? "retrying" : "lease_lost";
    }
    job.locked_until = null;
    if (delay_ms === "dead") return die(model, job);
    Object.assign(job, { status: "failed", run_at: model.now + delay_ms, due_at: model.now + delay_ms });
    return "retrying";
  });
  if (delay_ms === "dead") advanceEnded(model, leases);
  return outcomes;
}

function die(model: Model, job: ModelJob): string {
  Object.assign(job, { status: "dead", dead_at: model.now, finished_at: model.now, active_group_key: false });
  ended(model, job);
  return "dead";
}

const queuedAgain = (job: ModelJob) => ({ status: "queued", ready_at: job.run_at, token: null, locked_until: null });

const scheduledAgain = (job: ModelJob, now: number) => ({
  ...queuedAgain(job),
  status: "scheduled",
  ready_at: null,
  due_at: now + Math.min(Math.max(now - job.run_at, 1_000), 30_000),
});

/** running → queued or, with `later`, scheduled, with the attempt given back. Returns the jobs that went back. */
export function release(model: Model, leases: readonly Taken[], later = false): number[] {
  return leases.flatMap((lease) => {
    const job = held(model, lease);
    if (!job) return [];
    Object.assign(job, later ? scheduledAgain(job, model.now) : queuedAgain(job), { attempts: job.attempts - 1 });
    return [job.n];
  });
}

/** The same for what is still held of a claim whose answer was lost. */
export function revokeClaim(model: Model, token: number): void {
  const claimed = model.claims.get(token);
  if (!claimed) model.claims.set(token, { check_at: model.now + 300_000, jobs: [], worker: "" });
  release(
    model,
    (claimed?.jobs ?? []).map((job) => ({ job, token })),
  );
}

/** What has not been renewed goes back, or dies with its last attempt. */
export function recover(model: Model): void {
  for (const [token, claimed] of model.claims) {
    if (claimed.check_at > model.now) continue;
    const running = claimed.jobs.flatMap((job) => held(model, { job, token }) ?? []);
    const left = running.filter(({ locked_until }) => Number(locked_until) > model.now);
    for (const job of running) {
      if (left.includes(job)) continue;
      if (job.attempts < job.max_attempts) Object.assign(job, queuedAgain(job));
      else {
        die(model, job);
        Object.assign(job, { token: null, locked_until: null });
      }
    }
    const next = Math.min(...left.map(({ locked_until }) => Number(locked_until)));
    if (left.length === 0 && claimed.jobs.length === 0) model.claims.delete(token);
    else if (left.length === 0) Object.assign(claimed, emptied(model));
    else claimed.check_at = Math.max(next, model.now + 1_000);
  }
  advanceEnded(model);
}

/** The leases of a worker whose process has ended end now. */
export function endLeases(model: Model, worker: string): number {
  let count = 0;
  for (const [token, claimed] of model.claims) {
    if (claimed.worker !== worker) continue;
    const running = claimed.jobs.flatMap((job) => held(model, { job, token }) ?? []);
    const ends = running.filter(({ locked_until }) => Number(locked_until) > model.now);
    for (const job of ends) job.locked_until = model.now;
    if (ends.length > 0) claimed.check_at = model.now;
    count += ends.length;
  }
  return count;
}

/** A claim of which no job is held any more stays for a minute. */
const emptied = (model: Model) => ({ jobs: [], check_at: model.now + 60_000 });

/** Claims of which no job is held any more forget their jobs. */
export function forgetEnded(model: Model): void {
  for (const [token, claimed] of model.claims)
    if (claimed.jobs.length > 0 && !claimed.jobs.some((job) => held(model, { job, token })))
      Object.assign(claimed, emptied(model));
}

/** The handler waits for a signal: its job gives its lease and its attempt back until it comes, or for so long. */
export function park(model: Model, lease: Taken, name: string, seconds: number): string {
  const found = model.jobs.get(lease.job);
  if (!found) return "unknown";
  if (found.status === "scheduled" && found.waits_for === name && found.token === lease.token) return "parked";
  const job = held(model, lease);
  if (!job) return "lease_lost";
  const wait = `${job.n} ${name}`;
  if (model.signals.has(wait)) return "signalled";
  Object.assign(job, { has_steps: true, expires_at: null });
  const until = model.waits.get(wait) ?? model.now + seconds * 1_000;
  if (until <= model.now) return "timed_out";
  model.waits.set(wait, until);
  const attempts = job.attempts - 1;
  Object.assign(job, {
    status: "scheduled",
    waits_for: name,
    run_at: until,
    due_at: until,
    attempts,
    locked_until: null,
  });
  return "parked";
}
