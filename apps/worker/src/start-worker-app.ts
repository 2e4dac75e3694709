import { availableParallelism } from "node:os";
import {
  connectDatabase,
  createMetrics,
  logEvents,
  memorySignal,
  observeAll,
  SettingError,
  type Database,
  type Signal,
} from "@atlasqueue/core";
import {
  addServerGauges,
  pauseAll,
  redisSignals,
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
  const signalOf = redisSignals();
  const cells = config.cells.map(({ name, database: place, redis }, at) => {
    const cell = config.cells.length > 1 ? name : undefined;
    const ownLogger = cell === undefined ? logger : logger.child({ cell });
    const observe = observeAll(logEvents(ownLogger), metrics.observe);
    const database = connectDatabase({ ...place, applicationName: "atlasqueue-worker", observe });
    const shared = at === 0 ? parts.signal : undefined;
    const signal = shared ?? (redis ? signalOf(redis) : memorySignal());
    const close = async () => void (await Promise.all([database.close(), shared ? undefined : signal.close()]));
    return { cell, logger: ownLogger, observe, database, signal, close, tracing: telemetry?.tracing };
  });
  addServerGauges(metrics.registry, ...cells);
  telemetry?.addMetrics(metrics.registry);
  const workers: Worker[] = [];
  const ready = workerReadiness(cells, (at) => workers[at]);
  const address = { ...config.metrics, allowed_hosts: config.allowed_hosts, hang_ms: config.hang_ms };
  const health = await startHealthServer(metrics, ready, address).catch(async (error: unknown) => {
    await Promise.all([telemetry?.stop(), ...cells.map((one) => one.close())]);
    throw listenError(error, "WORKER_METRICS", config.metrics);
  });
  const ended = (part: string, ending: Promise<unknown>) => endWithin(logger, part, ending);
  const closeParts = async () => {
    // The last metrics ask the servers.
    if (telemetry) await ended("the telemetry", telemetry.stop());
    const connections = Promise.all(cells.map((one) => one.close()));
    await Promise.all([ended("the connections", connections), ended("the metrics server", health.stop())]);
  };
  const require = async ({ database, signal, observe, logger: log }: (typeof cells)[number]) => {
    await Promise.all([requireSignal(signal), requireUsablePostgres(database)]);
    await requireOwnRedis({ database, signal, observe });
    // A database that is away ends this start: what cannot be paused must not run.
    if (config.paused_at_start) log.warn(await pauseAll(database), "paused_at_start");
  };
  try {
    await Promise.all(
      cells.map((one) =>
        require(one).catch((error: unknown) => {
          // Its worker waits until it is there; the others have work to do.
          if (cells.length === 1 || config.paused_at_start) throw error;
          const reason = error instanceof Error ? error.message : String(error);
          one.logger.error({ event: "cell_unavailable", reason }, "cell_unavailable");
        }),
      ),
    );
  } catch (error) {
    await closeParts();
    throw error;
  }
  for (const [at, { cell, ...deps }] of cells.entries()) {
    const shareOf = shareIn(at, cells.length);
    workers.push(
      startWorker(deps, {
        // One for the whole process: its parent ends the leases of all cells by it.
        ...(workers[0] && { workerId: workers[0].id }),
        ...(cell !== undefined && { isolation: { processesMax: shareOf(availableParallelism()) } }),
        ...slotsOf(config, shareOf),
        handlers,
        types: config.types,
        tenants: config.tenants,
        leaseSeconds: config.lease_seconds,
        pollTimeoutSeconds: config.poll_timeout_seconds,
        unknownTypeSeconds: config.unknown_type_seconds,
        backoff: config.backoff,
        retention: config.retention,
        resultTtlSeconds: config.result_ttl_seconds,
      }),
    );
  }
  const ofAll = <T>(work: (worker: Worker) => Promise<T>) => Promise.all(workers.map(work));
  return {
    id: workers[0]?.id ?? "",
    empty: async (options) => void (await ofAll((worker) => worker.empty(options))),
    // While one is left, this process has work to do.
    refused: ofAll((worker) => worker.refused).then(([reason = ""]) => reason),
    metrics_url: `${health.url}/metrics`,
    closePort: health.stop,
    async stop() {
      await ofAll((worker) => worker.stop({ deadlineMs: config.shutdown_ms }));
      await closeParts();
    },
  };
}

/** The slots are split evenly between the cells, as each has a worker of its own; at least one each. */
const shareIn = (at: number, cells: number) => (count: number) =>
  Math.max(1, Math.floor(count / cells) + (at < count % cells ? 1 : 0));

function slotsOf({ queues, concurrency }: WorkerAppConfig, shareOf: (count: number) => number) {
  if (Array.isArray(queues)) return { queues, concurrency: concurrency && shareOf(concurrency) };
  return { queues: Object.fromEntries(Object.entries(queues).map(([queue, count]) => [queue, shareOf(count)])) };
}

function slotsIn(config: WorkerAppConfig): number {
  const shares = config.cells.map((_, at) => slotsOf(config, shareIn(at, config.cells.length)));
  return shares
    .flatMap(({ queues, concurrency }) => concurrency ?? Object.values(queues))
    .reduce<number>((sum, count) => sum + Number(count), 0);
}

/** If it is away, or not set up yet, the worker runs and waits for it; what only a person can mend ends it. */
async function requireUsablePostgres(database: Database): Promise<void> {
  try {
    await requirePostgres(database);
    await requireSchema(database);
  } catch (error) {
    if (error instanceof SettingError || isShutOut(error)) throw error;
  }
}
