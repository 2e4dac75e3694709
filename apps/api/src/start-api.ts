import {
  connectDatabase,
  createLogger,
  createMetrics,
  logEvents,
  noSignal,
  observeAll,
  redisSignal,
  SettingError,
  type Logger,
  type Signal,
} from "@atlasqueue/core";
import {
  addFleetGauges,
  addServerGauges,
  requireSignal,
  signingKey,
  clearAway,
  createSweeper,
} from "@atlasqueue/core/internal";
import { noAuthentication, requireTokens } from "./access/authenticate.ts";
import { createApp } from "./app.ts";
import { requireDatabase } from "./health/check-database.ts";
import type { ApiConfig } from "./config.ts";
import { createServices } from "./services.ts";
import { startServer, type RunningServer } from "./server.ts";

export type RunningApi = { url: string; port: number; stop(): Promise<void> };

/** If given, they are used and left open; otherwise they are made and closed again. */
export type ApiParts = { signal?: Signal; logger?: Logger };

/**
 * Start the API: database, signal, metrics, server. Rejects when the database is away or has no tables, or the port
 * is taken; once started, it outlives both Postgres and Redis going away. `stop()` finishes what is in flight first.
 *
 * @example
 * const api = await startApi(readApiConfig(process.env));
 * await api.stop();
 */
export async function startApi(config: ApiConfig, parts: ApiParts = {}): Promise<RunningApi> {
  const logger = parts.logger ?? createLogger(config.log_level, "atlasqueue-api");
  const { registry, observe: count } = createMetrics();
  const observe = observeAll(logEvents(logger), count);
  const database = connectDatabase({ ...config.database, application_name: "atlasqueue-api" });
  const signal = parts.signal ?? (config.redis ? redisSignal({ ...config.redis, observe }) : noSignal());
  addServerGauges(registry, { database, signal });
  addFleetGauges(registry, { database });
  const closeParts = async () => {
    await Promise.all([database.close(), parts.signal ? undefined : signal.close()]);
  };
  try {
    await Promise.all([requireDatabase(database), requireSignal(signal)]);
    const core = { database, signal, observe };
    const services = createServices(core, config);
    const authenticator = config.auth === "required" ? requireTokens(core) : noAuthentication;
    const cursor_key = await signingKey(core, "cursors");
    const app = createApp({ ...config, ...core, ...services, logger, registry, authenticator, cursor_key });
    const server = await listen(app, config, logger);
    // So that remote workers' jobs are recovered, retried and signalled again where none of our workers runs.
    const draining = new AbortController();
    const { followUps, longPoll } = services;
    const sweeping = createSweeper({ ...core, logger, followUps }, draining.signal, {
      queues: longPoll.askedFor,
      discover: async () => {},
    }).run();
    // In turns with the workers, and alone where all of those are remote.
    const clearing = clearAway({ ...core, logger }, config.retention, config.result_ttl_seconds, draining.signal);
    logger.info({ event: "api_started", url: server.url }, "api_started");
    const stop = async () => {
      // Waiting calls are answered first, or the server would wait for them.
      await Promise.all([services.longPoll.close(), services.finishedWaits.close()]);
      draining.abort();
      await server.stop(config.shutdown_ms);
      await services.longPoll.returned();
      await services.submitter.close();
      await Promise.all([authenticator.close(), sweeping, clearing]);
      await services.followUps.stop();
      await closeParts();
      // Otherwise the rest would be written at exit, bit by bit.
      await new Promise((resolve) => logger.flush(resolve));
    };
    let stopped: Promise<void> | undefined;
    return { url: server.url, port: server.port, stop: () => (stopped ??= stop()) };
  } catch (error) {
    await closeParts();
    throw error;
  }
}

async function listen(app: ReturnType<typeof createApp>, config: ApiConfig, logger: Logger): Promise<RunningServer> {
  try {
    return await startServer(app, { ...config.listen, logger });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRNOTAVAIL" && code !== "ENOTFOUND") throw error;
    throw new SettingError(`API_HOST must be an address of this machine; got ${JSON.stringify(config.listen.host)}`);
  }
}
