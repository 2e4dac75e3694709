/** What a job carries. `n` tells jobs apart; the rest is ballast to reach the wanted size. */
export type Payload = { n: number; text?: string };

/** Where a variant finds its servers. The database is new in each run, both Redis servers are empty. */
export type ServerUrls = {
  postgres: string;
  /** No persistence: its content is gone after a crash. */
  redis_memory: string;
  /** `appendonly yes`, `appendfsync always`. */
  redis_durable: string;
  /** SQL to send once the tables are there. */
  after_migrate?: string;
};

/** Some peers' documentation has one setting for many jobs and another for a quick start of one: each gets its best. */
type Purpose = "throughput" | "latency";

/** A started worker. */
type Working = {
  /** True when nothing added is left: waiting, running or unsettled. */
  settled(): Promise<boolean>;
  stop(): Promise<void>;
};

/** A queue as its user sees it: one connected producer, and a worker on demand. */
export type BenchQueue = {
  /** One job. Resolves when the queue has promised to keep it. */
  add(payload: Payload): Promise<unknown>;
  /** Many jobs by the queue's own bulk call. */
  addMany(payloads: Payload[]): Promise<unknown>;
  /** Jobs, and one that runs when all of them have succeeded. Missing where the queue has no such thing. */
  addFlow?(parents: Payload[], child: Payload): Promise<unknown>;
  /** Start a worker in this process; `handle` is the whole handler. `in_flight`: how many jobs it has at once. Default: its best. */
  work(handle: (payload: Payload) => void, purpose: Purpose, in_flight?: number): Promise<Working>;
  close(): Promise<void>;
};
