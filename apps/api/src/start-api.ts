import { createLogger, createMetrics, type DestinationStream, type Logger, type Signal } from "@atlasqueue/core";
import { addServerGauges, redisSignals } from "@atlasqueue/core/internal";
import { addFleetGauges, signingKey } from "@atlasqueue/core/internal/http";
import { endWithin, listenError, loadTelemetry } from "@atlasqueue/program";
import { noAuthentication, requireTokens } from "./access/authenticate.ts";
import type { Authenticator } from "./http/context.ts";
import { createApp } from "./app.ts";
import { readDashboard } from "./dashboard/built.ts";
import { readGuide } from "./dashboard/guide.ts";
import { placeIn } from "./cells/cells.ts";
import { openCell } from "./cells/open-cell.ts";
import type { ApiConfig } from "./config.ts";
import type { SharedServices } from "./services.ts";
import { startServer, type RunningServer } from "./server.ts";

export type RunningApi = {
  url: string;
  port: number;
  /** Whether the page is served at `/`: it is wanted, and was built. */
  dashboard: boolean;
  /** Answers a request that the surrounding program received. */
  fetch: ReturnType<typeof createApp>["fetch"];
  /** What `/metrics` shows, of this process alone. */
  ownMetrics(): Promise<string>;
  stop(): Promise<void>;
};

/** How long it may take to cut off the requests that are left at the deadline. */
const cut_off_ms_max = 1_000;

/**
 * If given, they are used and left open; otherwise they are made and closed again. `log`: where its lines go. `callerOf`: the
 * surrounding program's own sign-in. With it, no port is opened and no maintenance runs.
 */
export type ApiParts = Partial<Pick<Authenticator, "callerOf">> & Parts;
type Parts = { signal?: Signal; logger?: Logger; log?: DestinationStream; member?: ApiMember };

/** One process of several: its metrics bear its number, and `/metrics` shows those of all. */
export type ApiMember = { number: number; gatherMetrics(): Promise<string> };

/**
 * Start the API: database, signal, metrics, server. Rejects when the home cell's database is away, has no tables or lacks
 * migrations, or the port is taken; other cells may come later. Once started, it outlives both Postgres and Redis going away. `stop()` finishes what is in flight first; a part that does not end in time
 * is left to itself, with a line in the log (`shutdown_timeout`).
 *
 * @example
 * const api = await startApi(readApiConfig(process.env));
 * await api.stop();
 */
export async function startApi(config: ApiConfig, parts: ApiParts = {}): Promise<RunningApi> {
  const service = "atlasqueue-api";
  const telemetry = await loadTelemetry(config.telemetry, service, () => import("@atlasqueue/telemetry"));
  const logger = parts.logger ?? createLogger(config.log_level, service, parts.log, telemetry?.tap);
  const { registry, observe: count } = createMetrics();
  const { member } = parts;
  if (member) registry.setDefaultLabels({ process: String(member.number) });
  const ownMetrics = () => registry.metrics();
  const parts_of_all = { config, logger, count, tracing: telemetry?.tracing, signalOf: redisSignals() };
  const [first, ...more] = config.cells;
  const home = openCell(first, { ...parts_of_all, signal: parts.signal });
  const others = more.map((one) => openCell(one, parts_of_all));
  const cells = [home, ...others] as const;
  const servers = cells.map(({ cell, core: { database, signal } }) => ({ cell, database, signal }));
  addServerGauges(registry, ...servers);
  addFleetGauges(registry, servers);
  telemetry?.addMetrics(registry);
  const closeParts = async () => {
    // The last metrics ask the database.
    await telemetry?.stop();
    await Promise.all(cells.map((one) => one.close()));
  };
  try {
    // Home first, as fifty that connect at once would make it late. Another that is down is tried again and logged below.
    await home.require();
    await Promise.all(others.map((one) => one.require().catch(() => {})));
    const { core, services } = home;
    const { callerOf } = parts;
    const own = config.auth === "required" ? requireTokens(core) : noAuthentication;
    const authenticator = callerOf ? { ...noAuthentication, callerOf } : own;
    const cursor_key = await signingKey(core, "cursors");
    const dashboard = config.with_dashboard ? readDashboard() : undefined;
    const metricsPage = member?.gatherMetrics ?? ownMetrics;
    const app = createApp({
      ...config,
      ...core,
      ...services,
      ...(others.length > 0 && placeIn(cells)),
      logger,
      metricsPage,
      authenticator,
      cursor_key,
      dashboard,
      guide: config.with_docs ? readGuide() : undefined,
    });
    const server = callerOf ? undefined : await listen(app, config, logger);
    const draining = new AbortController();
    const keeping = [
      server && home.keep(draining.signal),
      ...others.map(async (one) => {
        await one.requireInTime(draining.signal);
        if (server) await one.keep(draining.signal);
      }),
    ];
    if (server) logger.info({ event: "api_started", url: server.url, host: config.listen.host }, "api_started");
    const ended = (part: string, ending: Promise<unknown>, ms?: number) => endWithin(logger, part, ending, ms);
    const stop = async () => {
      /** Of all cells. */
      const endAll = (part: string, end: (of: SharedServices) => unknown) =>
        ended(part, Promise.all(cells.map(({ services: its }) => end(its))));
      // Waiting calls are answered first, or the server would wait for them.
      for (const { services: its } of cells)
        for (const one of [its.liveEvents, its.jobStreams, its.finishedWaits]) one.close();
      await endAll("the waiting leases", ({ longPoll }) => longPoll.close());
      draining.abort();
      // It cuts them off by itself at the deadline.
      if (server) await ended("the requests", server.stop(config.shutdown_ms), config.shutdown_ms + cut_off_ms_max);
      // The server has answered, or cut off, everyone. What was begun for those who have hung up is finished, but for
      // submissions that wait for somebody's lock; and what it leased goes back.
      await Promise.all([
        endAll("the submissions", ({ submitter }) => submitter.close({ give_up: true })),
        endAll("what was begun", ({ underWay }) => underWay.over()),
      ]);
      await endAll("what was leased too late", ({ longPoll }) => longPoll.released());
      await Promise.all([
        ended("the tokens", authenticator.close()),
        ended("the sweep and retention", Promise.all(keeping)),
      ]);
      await endAll("the follow-ups", ({ followUps }) => followUps.stop());
      await ended("the connections", closeParts());
      // Otherwise the rest would be written at exit, bit by bit.
      await ended("the log", new Promise((resolve) => logger.flush(resolve)));
    };
    let stopped: Promise<void> | undefined;
    return {
      url: server?.url ?? "",
      port: server?.port ?? 0,
      fetch: app.fetch,
      dashboard: dashboard !== undefined,
      ownMetrics,
      stop: () => (stopped ??= stop()),
    };
  } catch (error) {
    await closeParts();
    throw error;
  }
}

async function listen(app: ReturnType<typeof createApp>, config: ApiConfig, logger: Logger): Promise<RunningServer> {
  try {
    const { base_path, keep_alive_ms } = config;
    return await startServer(app, { ...config.listen, base_path, keep_alive_ms, logger });
  } catch (error) {
    throw listenError(error, "API", config.listen);
  }
}
