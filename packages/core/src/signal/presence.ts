import { z } from "zod";

/** What a worker says about itself, apart from its tenant. Untrusted, wherever it comes from. */
export const workerFacts = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.int(),
  queues: z.array(z.string()).readonly(),
  /** The job types it has handlers for. */
  handlers: z.array(z.string()).readonly(),
  concurrency: z.int(),
  /** Handlers running now. */
  active: z.int(),
  /** `draining`: it takes no more jobs. `stuck`: it should take some, but its consumer is not moving. */
  state: z.enum(["running", "draining", "stuck"]),
  lease_seconds: z.number(),
  started_at: z.iso.datetime().optional(),
  version: z.string().optional(),
  memory_bytes: z.int().optional(),
  /** Jobs whose handlers ended in the last minute. */
  jobs_per_minute: z.int().optional(),
});
export type WorkerPresence = WorkerRef & z.infer<typeof workerFacts>;

/**
 * The name under which a worker for all tenants announces itself: every tenant sees it, and no tenant can have that
 * name.
 */
export const allTenants = "*";

/** A worker announces itself to each of its tenants, or to `allTenants`. */
export type WorkerRef = { tenant: string; id: string };
export type SeenWorker = WorkerPresence & { last_seen: Date };

/**
 * Which workers are alive, by their own account: for people to see. Nothing that happens to a job depends on it, as
 * anything may write to Redis. Methods reject with `SignalUnavailableError` when the other side is away.
 */
export type Presence = {
  /**
   * I am alive; repeat every `presence_beat_ms`. Bounded: beyond `workers_max` per tenant, new ones are not recorded.
   */
  announce(worker: WorkerPresence): Promise<void>;
  /** I am leaving. */
  withdraw(worker: WorkerRef): Promise<void>;
  /** The tenant's workers heard from within `presence_ttl_ms`, by id. */
  list(tenant: string): Promise<SeenWorker[]>;
};

export const presence_beat_ms = 2_000;
/** A worker not heard from for this long is no longer listed. */
export const presence_ttl_ms = 5_000;
/** Per tenant. */
export const workers_max = 1_000;
/** Per worker, as listed. */
const queues_max = 1_000;
export const handlers_max = 200;

/** The parts of it that are listed, so that no worker's record grows beyond a few kilobytes. */
export function shortened(worker: WorkerPresence): WorkerPresence {
  return { ...worker, queues: worker.queues.slice(0, queues_max), handlers: worker.handlers.slice(0, handlers_max) };
}

/** Presence in the memory of one process, for its own workers and those of its children. */
export function memoryPresence(): Presence {
  /** `seen_at` is on a clock that no one sets. */
  const workers = new Map<string, SeenWorker & { seen_at: number }>();
  const keyOf = ({ tenant, id }: WorkerRef) => JSON.stringify([tenant, id]);
  const live = (tenant: string) => {
    const since = performance.now() - presence_ttl_ms;
    for (const [key, { seen_at }] of workers) if (seen_at <= since) workers.delete(key);
    return [...workers.values()]
      .filter((one) => one.tenant === tenant)
      .map(({ seen_at: _seen_at, ...worker }) => worker);
  };
  return {
    async announce(worker) {
      const key = keyOf(worker);
      if (!workers.has(key) && live(worker.tenant).length >= workers_max) return;
      workers.set(key, { ...shortened(worker), last_seen: new Date(), seen_at: performance.now() });
    },
    async withdraw(worker) {
      workers.delete(keyOf(worker));
    },
    list: async (tenant) => [...live(tenant), ...live(allTenants)].sort(byId),
  };
}

export const byId = (a: WorkerRef, b: WorkerRef) => (a.id < b.id ? -1 : 1);
