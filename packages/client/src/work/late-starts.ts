import { firstAnswer } from "../http/first-answer.ts";
import { pause } from "../http/time.ts";
import { isLost } from "./answers.ts";
import type { HeldJob } from "./held-jobs.ts";
import { keepLease, type KeeperDeps } from "./lease-keeper.ts";
import { againBeforeStartMs, createRests, try_ms_max } from "./rests.ts";

/** Whether a third of the lease may be over. */
export const isLate = (job: HeldJob, lease_seconds: number): boolean =>
  performance.now() > job.ends_at_ms - (2 * lease_seconds * 1_000) / 3;

/** Of what the start before took: an answer that has come in takes several turns to be read. */
const rest_share = 0.1;
const rest_ms_max = 100;

/**
 * Lets jobs start late, one after another: each once its lease is renewed and kept, and in a turn of the event loop of its
 * own. Handlers that hog the processor for a part of a lease would stand in the way of each other's renewals for all of it.
 * Resolves with false where a job is not to be started: if it is still being handled, it is to be given back.
 *
 * @example
 * const mayStart = createLateStarts(keeping);
 * if (isLate(job, 30) && !(await mayStart(job))) return;
 */
export function createLateStarts(deps: KeeperDeps) {
  let turns = Promise.resolve();
  let began_at_ms = performance.now();
  const turn = async (): Promise<void> => {
    await pause(0);
    const took_ms = performance.now() - began_at_ms;
    await pause(Math.min(took_ms * rest_share, rest_ms_max));
    began_at_ms = performance.now();
  };
  return async (job: HeldJob): Promise<boolean> => {
    if (!(await renewLate(deps, job))) return false;
    void keepLease(deps, job);
    turns = turns.then(turn);
    await turns;
    return deps.held.holds(job) && job.phase === "handling" && performance.now() < job.ends_at_ms;
  };
}

/** An API slower than the leases are long keeps none of them; a handler that hogs the processor makes one in vain. */
const renewals_max = 10;

/**
 * Renew the lease of a job that is about to be started late: another worker may have it by now. Once it has ended, one
 * more try must be enough. False when it is not to be started: lost or given back meanwhile, or not renewed in time, and then
 * it is still held.
 */
async function renewLate({ calls, held, observe, lease_seconds, repeats }: KeeperDeps, job: HeldJob): Promise<boolean> {
  const lease_ms = lease_seconds * 1_000;
  /** It may have begun any time until its answer came. */
  const over_at_ms = performance.now() + lease_ms;
  const rests = createRests(job);
  const isOurs = () => held.holds(job) && job.phase === "handling";
  const ask = async (signal: AbortSignal): Promise<number> => {
    const asked_ms = performance.now();
    // It may take long where it is the last one, and must leave time for another before.
    const timeoutMs = job.ends_at_ms - asked_ms > try_ms_max ? try_ms_max : Math.max(lease_ms, try_ms_max);
    const call = { retries: 0, timeoutMs, signal };
    await calls.heartbeat(job.leased, { leaseSeconds: lease_seconds }, call);
    return asked_ms;
  };
  const againInMs = (): number => {
    const now_ms = performance.now();
    const again_ms = againBeforeStartMs(job.ends_at_ms - now_ms, lease_ms);
    return now_ms + again_ms < over_at_ms ? again_ms : Infinity;
  };
  /** When the renewal that was answered had been asked for. */
  const renewed = async (): Promise<number> => {
    for (;;) {
      try {
        return await firstAnswer(ask, againInMs, repeats, job.stop.signal);
      } catch (error) {
        if (!isOurs() || isLost(error)) throw error;
        const rest_ms = rests.afterMs(error);
        if (performance.now() >= job.ends_at_ms) throw error;
        observe({ event: "api_unavailable", during: "heartbeat", error });
        await pause(rest_ms, job.stop.signal);
      }
    }
  };
  for (let renewal = 0; renewal < renewals_max; renewal += 1) {
    let asked_ms: number;
    try {
      asked_ms = await renewed();
    } catch (error) {
      if (!isOurs()) return false;
      if (isLost(error)) break;
      observe({ event: "api_unavailable", during: "heartbeat", error });
      // For as long as a renewal whose answer was lost may hold it.
      job.ends_at_ms = performance.now() + lease_ms;
      return false;
    }
    if (!isOurs()) return false;
    job.ends_at_ms = asked_ms + lease_ms;
    // Held for certain; if it is late again already, its keeper renews it at once.
    if (performance.now() < job.ends_at_ms) return true;
  }
  held.leave(job);
  observe({ event: "lease_lost", job: job.leased.job, during: "starting" });
  return false;
}
