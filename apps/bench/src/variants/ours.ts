import type { BenchQueue, Payload, ServerUrls } from "./queue.ts";

/**
 * What the scenarios ask of this system beyond what they ask of every queue. With `variant.ts` and `queue.ts` it is the seam of
 * `--compare`: scenarios, meter and report come from one checkout, this folder from each commit that is measured. So
 * things are only added here; a scenario that needs a new one can't be run with the commits before it.
 */
export type Ours = {
  /** Create the tables. */
  migrate(servers: ServerUrls): Promise<unknown>;
  /** A producer, and a worker on demand, for one queue. It creates the tables too. */
  open(servers: ServerUrls, of?: QueueOf): Promise<BenchQueue>;
  /** A worker in this process. */
  startWorker(servers: ServerUrls, work: Work): Promise<Stoppable>;
  /** A worker in its own process, for the queue "default". It works between the orders "start" and "stop". */
  startWorkerProcess(servers: ServerUrls, hear: (news: WorkerNews) => void): Promise<WorkerProcess>;
  /** One API process and one worker process, as they are deployed. */
  startDeployed(servers: ServerUrls, deployment?: Deployment): Promise<Deployed>;
  /** Set the limits of a queue; those left out are removed. */
  limit(servers: ServerUrls, queue: { tenant?: string; queue: string }, limits: Limits): Promise<void>;
  /** Asks for the counts of the default tenant's queues. `read` resolves with how many are queued or have succeeded. */
  openCounts(servers: ServerUrls): Promise<{ read(): Promise<number>; close(): Promise<void> }>;
  /** A producer and a worker in this process that note where each job's time goes. */
  openTraced(servers: ServerUrls): Promise<Traced>;
  /** The plans of the statements that every job goes through, by their names. */
  readPlans(servers: ServerUrls): Promise<ReadonlyMap<string, string>>;
  emptyTables(servers: ServerUrls): Promise<void>;
  /** Jobs that have succeeded, in the state our workers leave them. `part`: of the rows, only those after one up to another. */
  seedHistory(servers: ServerUrls, rows: number, part?: readonly [number, number]): Promise<void>;
  /** Jobs that wait in the queue "default", or dealt out to these queues, with their signals. */
  seedBacklog(servers: ServerUrls, rows: number, queues?: readonly string[]): Promise<void>;
};

type Stoppable = { stop(): Promise<void> };

export type QueueOf = {
  /** Default: the default tenant. */
  tenant?: string;
  /** Default: the queue "default". */
  queue?: string;
  /** The group of the n-th job. Default: none has one. */
  groupOf?: (n: number) => string;
  /** When the n-th job is due. Default: at once. */
  dueOf?: (n: number) => Date;
  /** Whether statements are prepared. Default: they are. */
  prepared?: boolean;
};

export type Work = {
  queue: string;
  /** More queues that share its handlers. */
  others?: readonly string[];
  /** The whole handler. */
  handle(payload: Payload): void | Promise<void>;
  /** Whose queue. Default: the default tenant's. */
  tenants?: readonly string[];
  /** Handlers at once. Default: 500. */
  concurrency?: number;
  /** Whether statements are prepared. Default: they are. */
  prepared?: boolean;
  /** A job of it is settled in the database. */
  succeeded(): void;
};

/** How many jobs it has settled so far, or that it has stopped. */
export type WorkerNews = { succeeded?: number; stopped?: true };
type WorkerProcess = Stoppable & { tell(order: "start" | "stop"): void };

export type Deployment = {
  /** Called with how many jobs the handlers are done with. */
  handled?(count: number): void;
  /** Jobs and keys are forgotten within two minutes, and a failed job is tried again after a second. */
  forgetful?: boolean;
};
export type Deployed = Stoppable & { api: { url: string; pid: number }; worker: { pid: number } };

/** What may run at once, of the queue and of one group; with `fair` the groups take turns. */
export type Limits = { concurrency?: number; group_concurrency?: number; fair?: boolean };

export type Traced = {
  add(payload: Payload): Promise<unknown>;
  /** Stops both; what was settled until then counts. */
  close(): Promise<Journeys>;
};

/** What passed between two marks on the way of a job: in the middle, and on average in the slowest jobs. */
type Stage = { name: string; median_ms: number; slowest_ms: number };

export type Journeys = {
  /** Of those settled. The slowest are those longest on the way from their submission to the handler's first line. */
  stages(slowest_part: number): Stage[];
  /** That way of theirs, in milliseconds. */
  taken(): number[];
};
