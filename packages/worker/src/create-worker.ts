import {
  connectDatabase,
  createLogger,
  logEvents,
  memorySignal,
  observeAll,
  redisSignal,
  SettingError,
  type Logger,
  type Observe,
  type QueueOptions,
} from "@atlasqueue/core";
import { requirePostgres } from "@atlasqueue/core/internal";
import { asOption, keysOf } from "@atlasqueue/core/internal/worker";
import { slotsOf } from "./consume/slots.ts";
import { handlersByType } from "./handler.ts";
import { newWorkerId, startWorker, type Worker, type WorkerConfig } from "./start-worker.ts";

export type WorkerOptions = WorkerConfig & {
  /** Such as `postgres://localhost/atlasqueue`. */
  databaseUrl: string;
  /** The schema of the tables: the same as the queue's. Default `atlasqueue`. */
  schema?: string | undefined;
  /**
   * As `createQueue` takes it. Without it, or when it is empty, the worker looks for jobs in the database, and finds them
   * within a second or two.
   */
  redisUrl?: string | undefined;
  /** In PEM, for `rediss`: the authorities that its certificate may be from, and our own certificate and key. */
  redisTls?: QueueOptions["redisTls"];
  /** The names of the keys in Redis: the same as the queue's. Default: `<schema>:jobs` and `<schema>:dlq`. */
  keys?: NonNullable<QueueOptions["keys"]>;
  /** Milliseconds after which a query without an answer has failed. Default 5,000. */
  timeoutMs?: number;
  /** Connections of the pool at most, from 2; two more are opened in trouble. Default 5. */
  connectionsMax?: number;
  /** False for poolers that cannot keep prepared statements. Default true. */
  preparedStatements?: boolean;
  /**
   * Where handlers and the worker write JSON lines. Default: `createLogger("warn", "atlasqueue-worker")`, on stdout. With
   * `createLogger("info", …)` each job has its lines, and so has the handlers' own `logger.info`.
   */
  logger?: Logger;
  /** Called with each event, after `logger` has its line for it. */
  observe?: Observe;
  /** Where spans go: `openTelemetry()` of `@atlasqueue/core/opentelemetry`. Default: none, which costs nothing. */
  tracing?: QueueOptions["tracing"];
};

/**
 * Run a worker in this process, with connections of its own. The database must be migrated; while it is away, the worker
 * waits for it. `stop` closes the connections too, so that the process can end: by default it gives the handlers 25
 * seconds, and closing takes up to seven more. If PostgreSQL is too old, or the database's encoding is not UTF8, it logs one
 * line (`worker_refused`) and stops: see `refused`. Throws without a `databaseUrl`, for a URL or slots that cannot be used, and
 * for two handlers of one type. It pauses nothing at its start: `PAUSED_AT_START` is a setting of the programs.
 *
 * @example
 * const worker = createWorker({ databaseUrl, redisUrl, queues: ["mail"], handlers: [sendEmail] });
 * process.once("SIGTERM", () => worker.stop());
 */
export function createWorker(options: WorkerOptions): Worker {
  const { databaseUrl, schema, redisUrl, redisTls, keys, timeoutMs, connectionsMax, preparedStatements, ...rest } =
    options;
  const { logger = createLogger("warn", "atlasqueue-worker"), observe: hear, tracing, ...config } = rest;
  const observe = hear ? observeAll(logEvents(logger), hear) : logEvents(logger);
  handlersByType(config.handlers);
  slotsOf(config);
  const database = connectDatabase({
    url: databaseUrl,
    schema,
    connectionsMax: connectionsMax ?? 5,
    timeoutMs: timeoutMs ?? 5_000,
    preparedStatements: preparedStatements ?? true,
    applicationName: "atlasqueue-worker",
    observe,
  });
  // Not `noSignal`, on which nothing can wait: the worker would report it as an outage.
  const signal = redisUrl
    ? redisSignal({ url: redisUrl, tls: redisTls, keys: keys ?? keysOf(schema) })
    : memorySignal();
  const close = async () => void (await Promise.all([database.close(), signal.close()]));

  const id = config.workerId ?? newWorkerId();
  const refused = Promise.withResolvers<string>();
  let worker: Worker | undefined;
  let reason: string | undefined;
  const start = async (): Promise<void> => {
    try {
      await requirePostgres(database);
    } catch (error) {
      if (error instanceof SettingError) return refuse(asOption(error).message);
    }
    if (stopping) return;
    worker = startWorker({ database, signal, observe, logger, tracing }, { ...config, workerId: id });
    void worker.refused.then(refuse);
  };
  const refuse = (line: string): void => {
    if (!worker) logger.error({ event: "worker_refused", reason: line }, "worker_refused");
    reason = line;
    refused.resolve(line);
    void stopOnce();
  };
  const stop = async (given?: { deadlineMs?: number }) => {
    // A check that is under way ends with its connection.
    await worker?.stop(given);
    await close();
    await starting;
  };
  let stopping: Promise<void> | undefined;
  const stopOnce = (given?: { deadlineMs?: number }) => (stopping ??= stop(given));
  const starting = start();
  return {
    id,
    refused: refused.promise,
    stop: stopOnce,
    async empty(given) {
      await starting;
      if (!worker && reason !== undefined) throw new SettingError(reason);
      await worker?.empty(given);
    },
    stuckForMs: () => worker?.stuckForMs() ?? 0,
    withoutProcessForMs: () => worker?.withoutProcessForMs() ?? 0,
  };
}
