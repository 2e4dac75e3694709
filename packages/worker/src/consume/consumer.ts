import { setImmediate as nextTurn } from "node:timers/promises";
import { pause, SignalUnavailableError } from "@atlasqueue/core/internal";
import { claim, claimReady, type Claimer, type Lease, type LeaseReleaser } from "@atlasqueue/core/internal/worker";
import { isUnavailable } from "@atlasqueue/core";
import type { WorkerDeps } from "../deps.ts";
import type { ConsumeWatch } from "./consume-watch.ts";
import { idSource, type NextIds } from "./next-ids.ts";
import type { RunningJobs } from "./running-jobs.ts";
import type { Served } from "./served.ts";
import { createTenantLine } from "./tenant-line.ts";

export type ConsumerConfig = {
  /** Each claim is for one tenant, named with it. */
  claimer: Omit<Claimer, "tenant">;
  served: Served;
  poll_timeout_seconds: number;
  /** Each queue has slots of its own. */
  own_slots: boolean;
};

const rest_after_outage_ms = 500;
/** Without a signal: how long a worker with nothing to do rests between two looks; half of it is random. */
const poll_ms_max = 1_000;
/** While all queues rest; it ends sooner when one no longer does. */
const rest_ms_max = 60_000;
/** Claims under way at once: while one is on its way back, the next is made. */
const claims_max = 2;
/** The same with many tenants, each of which takes a claim of its own, and often for one job. */
const claims_of_many_max = 4;
/** Of a worker that takes only some types, when it finds only jobs of others. */
const others_rest = { min_ms: 20, max_ms: 1_000 };
/** Ids can be stale. After as many claims in a row that got nothing, or one with many tenants, the oldest are claimed. */
const empty_claims_max = 5;

type Parts = {
  deps: WorkerDeps;
  running: RunningJobs;
  watch: ConsumeWatch;
  returns: LeaseReleaser;
  /** Starts what was leased by a statement sent at `asked_at`. */
  start(leases: Lease[], asked_at: number): void;
};

/**
 * Fills the free slots: takes as many ids as there are slots, claims them in one statement, starts each handler as its lease
 * comes back. With nothing ready it waits on the signal; without a signal it looks into Postgres.
 */
export function createConsumer(parts: Parts, config: ConsumerConfig, stop: AbortSignal) {
  const { deps, running, watch, returns, start } = parts;
  const claim_jobs_max = Math.ceil(running.concurrency / claims_max);
  const claims = new Set<Promise<void>>();
  let empty_claims = 0;
  let others_rest_ms = 0;
  const { served, poll_timeout_seconds, own_slots } = config;
  const report = (error: unknown): void => {
    if (!isUnavailable(error)) return deps.logger.error({ err: error }, "claim_failed");
    watch.failed();
    deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
  };
  const restAfter = (error: unknown): Promise<void> => {
    report(error);
    return pause(rest_after_outage_ms * (0.5 + Math.random()), stop);
  };
  const line = createTenantLine(deps, served, report);
  const freeOf = own_slots ? running.free : undefined;
  const nextIds = idSource({ deps, served, line, poll_timeout_seconds, freeOf }, stop);

  type Claim = Pick<Claimer, "tenant"> & Partial<Pick<Claimer, "queues">>;
  const claimed = async (of: Claim, claiming: (claimer: Claimer) => Promise<Lease[]>): Promise<number> => {
    const asked_at = performance.now();
    const leases = await claiming({ ...config.claimer, ...of });
    watch.claimed();
    start(leases, asked_at);
    return leases.length;
  };
  const claimOldest = (of: Claim, jobs_max: number): Promise<number> =>
    claimed({ queues: served.open(), ...of }, (claimer) => claimReady(deps, jobs_max, claimer));
  /** The oldest for all free slots. */
  const fill = async (tenant: string): Promise<number> => {
    if (!own_slots) return claimOldest({ tenant }, running.free());
    let started = 0;
    for (const queue of served.open()) started += await claimOldest({ tenant, queues: [queue] }, running.free(queue));
    return started;
  };

  /**
   * The ids may be of other types, with ours behind them. While there are only others, they are left to other workers, for
   * twice as long each time.
   */
  const claimOfTypes = async (of: Claim, asked: number, started: number): Promise<void> => {
    const more = started < asked ? await claimOldest(of, asked - started) : 0;
    others_rest_ms =
      started + more > 0 ? 0 : Math.min(others_rest.max_ms, Math.max(others_rest.min_ms, others_rest_ms * 2));
    if (others_rest_ms > 0) await pause(others_rest_ms, stop);
  };

  /** Claim and start, keeping slots free for what comes back. A claim takes jobs of the queues that gave the ids. */
  const claimAll = async ({ tenant, ids, queues, others }: NextIds, room: number): Promise<void> => {
    const queue = own_slots ? queues[0] : undefined;
    const of: Claim = own_slots ? { tenant, queues } : { tenant };
    const reserved = [running.reserve(ids.length, queue)];
    const more_room = (): number => {
      const more = Math.max(0, Math.min(room - ids.length, running.free(queue)));
      reserved.push(running.reserve(more, queue));
      return more;
    };
    try {
      const started = await claimed({ tenant, queues }, (claimer) => claim(deps, ids, { ...claimer, more_room }));
      if (config.claimer.types) return await claimOfTypes(of, ids.length, started);
      empty_claims = started > 0 ? 0 : empty_claims + 1;
      if (started > 0 || (!others && empty_claims < empty_claims_max)) return;
      empty_claims = 0;
      await claimOldest(of, ids.length);
    } catch (error) {
      await restAfter(error);
    } finally {
      for (const giveUpRoom of reserved) giveUpRoom();
    }
  };

  /**
   * Without ids: the oldest jobs of each tenant in line, until the slots were filled once. Resolves with how long to rest:
   * not at all when some were started, and otherwise as long as it took while there are tenants that the look left out.
   */
  const claimInTurn = async (idle_ms: number): Promise<number> => {
    const [only = ""] = served.wanted;
    if (served.wanted !== "*" && served.wanted.length < 2) return (await fill(only)) > 0 ? 0 : idle_ms;
    const began_at = performance.now();
    const room = running.free();
    let started = 0;
    if (line.first() === undefined || line.lookInMs(false) === 0) await line.look();
    for (let tenant = line.first(); tenant !== undefined; tenant = line.first()) {
      line.leave(tenant);
      const asked = running.free();
      const got = await fill(tenant);
      started += got;
      if (got > 0) {
        line.taken(tenant, got === asked);
        served.hasJobs(tenant);
      }
      if (started >= room || running.free() === 0 || stop.aborted) break;
    }
    if (started > 0) return 0;
    return line.more() ? Math.min(idle_ms, performance.now() - began_at) : idle_ms;
  };
  const pollPostgres = async (idle_ms: number, rest: (ms: number) => Promise<unknown>): Promise<void> => {
    try {
      const rest_ms = await claimInTurn(idle_ms);
      if (rest_ms > 0) await rest(rest_ms);
    } catch (error) {
      await restAfter(error);
    }
  };
  const pollAfter = (failed: SignalUnavailableError) =>
    pollPostgres(poll_ms_max * (0.5 + Math.random() / 2), (rest_ms) => {
      deps.observe({ event: "signal_failed", during: "wait", error: failed.message });
      return pause(rest_ms, stop);
    });
  /** The oldest, again after each mark. */
  const claimByMarks = (changed: AbortSignal) =>
    pollPostgres(poll_timeout_seconds * 1_000, async (rest_ms) => {
      const queues = served.queuesOf(served.tenants());
      const woken = await deps.signal.wait(queues, rest_ms, AbortSignal.any([stop, changed]));
      if (woken) line.taken(woken.queue.tenant, true);
    });

  const take = async (): Promise<void> => {
    watch.turned();
    if (served.open().length === 0) return pause(rest_ms_max, AbortSignal.any([stop, served.changed()]));
    const room = Math.min(running.free(), claim_jobs_max, config.claimer.size?.jobs_max() ?? Infinity);
    const most = served.tenants().length > 1 ? claims_of_many_max : claims_max;
    if (room === 0 || claims.size >= most || returns.full()) {
      await Promise.race([running.change(), ...claims, pause(1_000, stop)]);
      // Handlers that end in the same turn of the event loop share the next claim.
      return nextTurn();
    }
    // Its signal is taken before anything is awaited: a tenant that joins meanwhile ends the wait that it is not in.
    if (deps.signal.marks_only) return claimByMarks(served.changed());
    try {
      const next = await nextIds(room);
      if (next.ids.length === 0) return;
      const claiming = claimAll(next, room).finally(() => claims.delete(claiming));
      claims.add(claiming);
      // Fewer than asked for: nothing is waiting, so there is nothing to overlap with but others' claims.
      if (next.ids.length < room && !next.others) await claiming;
    } catch (error) {
      if (error instanceof SignalUnavailableError) await pollAfter(error);
      else await restAfter(error);
    }
  };
  return { take, stopTaking: async () => void (await Promise.all(claims)) };
}
