import {
  connectDatabase,
  createMetrics,
  logEvents,
  memorySignal,
  observeAll,
  redisSignal,
  SettingError,
  type Database,
  type Signal,
} from "@atlasqueue/core";
import {
  addServerGauges,
  pauseAll,
  requireOwnRedis,
  requirePostgres,
  requireSchema,
  requireSignal,
} from "@atlasqueue/core/internal";
import { isShutOut } from "@atlasqueue/core/internal/worker";
import { endWithin, listenError } from "@atlasqueue/program";
import { startWorker, type Worker } from "@atlasqueue/worker";
import type { WorkerAppConfig } from "./config.ts";
import { demoHandlers, noopHandler } from "./handlers/demo.ts";
import { pushHandler } from "./handlers/push.ts";
import { webhookHandler } from "./handlers/webhook-deliver.ts";
import { startHealthServer } from "./health/health-server.ts";
import { loadHandlers } from "./load-handlers.ts";
import { startReporting, type Reporting } from "./reporting.ts";
import { workerReadiness } from "./health/readiness.ts";

export type WorkerApp = Pick<Worker, "id" | "empty" | "refused"> & {
  metrics_url: string;
  /** Gives up the metrics port early; without it, `stop` does so at its end. */
  closePort(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * A worker with its connections, the built-in and the user's handlers, and its metrics server. `parts` are shared with
 * others in the process and are not closed. A user's handler replaces the built-in one of its type.
 */
export async function startWorkerApp(
  config: WorkerAppConfig,
  parts: { signal?: Signal } & Partial<Reporting> = {},
): Promise<WorkerApp> {
  const { logger, telemetry } = parts.logger
    ? { telemetry: undefined, ...parts, logger: parts.logger }
    : await startReporting(config);
  const own = await loadHandlers(config.handler_paths);
  const demo = config.demo_handlers ? demoHandlers : [];
  const builtIn = [noopHandler, ...demo, webhookHandler(config.webhooks)];
  if (config.push) builtIn.push(pushHandler(config.push));
  const handlers = [...own, ...builtIn.filter((handler) => !own.some(({ type }) => type === handler.type))];

  const metrics = createMetrics({ workerSlots: slotsIn(config) });
  const observe = observeAll(logEvents(logger), metrics.observe);
  const database = connectDatabase({
    ...config.database,
    applicationName: "atlasqueue-worker",
    observe,
  });
  const signal = parts.signal ?? (config.redis ? redisSignal(config.redis) : memorySignal());
  addServerGauges(metrics.registry, { database, signal });
  telemetry?.addMetrics(metrics.registry);
  let worker: Worker | undefined;
  const ready = workerReadiness({ database, signal }, () => worker);
  const address = { ...config.metrics, allowed_hosts: config.allowed_hosts, hang_ms: config.hang_ms };
  const health = await startHealthServer(metrics, ready, address).catch(async (error: unknown) => {
    await Promise.all([telemetry?.stop(), database.close(), parts.signal ? undefined : signal.close()]);
    throw listenError(error, "WORKER_METRICS", config.metrics);
  });
  const ended = (part: string, ending: Promise<unknown>) => endWithin(logger, part, ending);
  const closeParts = async () => {
    // The last metrics ask the servers.
    if (telemetry) await ended("the telemetry", telemetry.stop());
    const connections = Promise.all([database.close(), parts.signal ? undefined : signal.close()]);
    await Promise.all([ended("the connections", connections), ended("the metrics server", health.stop())]);
  };
  try {
    await Promise.all([requireSignal(signal), requireUsablePostgres(database)]);
    await requireOwnRedis({ database, signal, observe });
    // A database that is away ends this start: what cannot be paused must not run.
    if (config.paused_at_start) logger.warn(await pauseAll(database), "paused_at_start");
  } catch (error) {
    await closeParts();
    throw error;
  }
  const started = startWorker(
    { database, signal, logger, observe, tracing: telemetry?.tracing },
    {
      handlers,
      queues: config.queues,
      types: config.types,
      tenants: config.tenants,
      concurrency: config.concurrency,
      leaseSeconds: config.lease_seconds,
      pollTimeoutSeconds: config.poll_timeout_seconds,
      unknownTypeSeconds: config.unknown_type_seconds,
      backoff: config.backoff,
      retention: config.retention,
      resultTtlSeconds: config.result_ttl_seconds,
    },
  );
  worker = started;
  return {
    id: started.id,
    empty: started.empty,
    refused: started.refused,
    metrics_url: `${health.url}/metrics`,
    closePort: health.stop,
    async stop() {
      await started.stop({ deadlineMs: config.shutdown_ms });
      await closeParts();
    },
  };
}

const slotsIn = ({ queues, concurrency }: WorkerAppConfig): number =>
  concurrency ?? Object.values(queues).reduce<number>((sum, count) => sum + Number(count), 0);

/** If it is away, or not set up yet, the worker runs and waits for it; what only a person can mend ends it. */
async function requireUsablePostgres(database: Database): Promise<void> {
  try {
    await requirePostgres(database);
    await requireSchema(database);
  } catch (error) {
    if (error instanceof SettingError || isShutOut(error)) throw error;
  }
}
