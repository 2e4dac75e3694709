/** What a worker says of itself. */
export type WorkerPresence = WorkerRef & {
  host: string;
  pid: number;
  queues: readonly string[];
  /** The job types it has handlers for. */
  handlers: readonly string[];
  concurrency: number;
  /** Handlers that run now. */
  active: number;
  /** `draining`: it takes no more jobs. `stuck`: it should take some, and its consuming does not move. */
  state: "running" | "draining" | "stuck";
  lease_seconds: number;
};

/** The name under which a worker of all tenants announces itself: every tenant sees it, and none can be called so. */
export const allTenants = "*";

/** A worker announces itself to each of its tenants, or to `allTenants`. */
export type WorkerRef = { tenant: string; id: string };
export type SeenWorker = WorkerPresence & { last_seen: Date };
export type VanishedWorker = WorkerRef & Pick<WorkerPresence, "lease_seconds">;

/**
 * Which workers live, from what they say themselves: a hint like every signal. Methods reject with
 * `SignalUnavailableError` when the other side is away.
 */
export type Presence = {
  /** I live; to be said again every `presence_beat_ms`. Bounded: past `workers_max` of a tenant, new ones are not taken in. */
  announce(worker: WorkerPresence): Promise<void>;
  /** I leave: nobody needs to look for me. */
  withdraw(worker: WorkerRef): Promise<void>;
  /** The tenant's workers that were heard of within `presence_ttl_ms`, by their ids. */
  list(tenant: string): Promise<SeenWorker[]>;
  /**
   * Workers that fell silent without a farewell and whose process is gone, as we can see, being on the same machine.
   * Those of other machines are for others to see, or for the end of their leases (see
   * decisions/2026-11-21-vanished-workers.md).
   */
  vanished(): Promise<VanishedWorker[]>;
  /** Where workers are known by the process that runs them: that process ended, and this one said no farewell. */
  lost?(worker: WorkerRef): void;
};

export const presence_beat_ms = 2_000;
/** A worker that was not heard of for so long is not listed any more. */
export const presence_ttl_ms = 5_000;
/** Of one tenant. */
export const workers_max = 1_000;
/** Of one worker, as it is listed. */
const queues_max = 1_000;
const handlers_max = 200;

/** The parts of it that are listed, so that no worker's record grows past some kilobytes. */
export function shortened(worker: WorkerPresence): WorkerPresence {
  return { ...worker, queues: worker.queues.slice(0, queues_max), handlers: worker.handlers.slice(0, handlers_max) };
}

/** Presence in the memory of one process, for its own workers and those of its children. */
export function memoryPresence(): Presence {
  const workers = new Map<string, SeenWorker>();
  const lost = new Map<string, VanishedWorker>();
  const keyOf = ({ tenant, id }: WorkerRef) => JSON.stringify([tenant, id]);
  const live = (tenant: string) => {
    const since = Date.now() - presence_ttl_ms;
    return [...workers.values()].filter((one) => one.tenant === tenant && one.last_seen.getTime() > since);
  };
  return {
    async announce(worker) {
      const key = keyOf(worker);
      if (!workers.has(key) && live(worker.tenant).length >= workers_max) return;
      workers.set(key, { ...shortened(worker), last_seen: new Date() });
    },
    async withdraw(worker) {
      workers.delete(keyOf(worker));
      lost.delete(keyOf(worker));
    },
    list: async (tenant) => [...live(tenant), ...live(allTenants)].sort(byId),
    vanished: async () => [...lost.values()],
    lost(worker) {
      const key = keyOf(worker);
      const known = workers.get(key);
      if (known) lost.set(key, { tenant: known.tenant, id: known.id, lease_seconds: known.lease_seconds });
      workers.delete(key);
    },
  };
}

export const byId = (a: WorkerRef, b: WorkerRef) => (a.id < b.id ? -1 : 1);
