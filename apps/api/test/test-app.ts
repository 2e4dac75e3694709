import { limits, type SubmitSingleInput } from "@atlasqueue/contract";
import { createLogger, createMetrics, logEvents, memorySignal, observeAll, type AtlasEvent } from "@atlasqueue/core";
import { forFile, testDatabase } from "@atlasqueue/harness";
import { createApp, type AppDeps } from "../src/app.ts";
import { startServer } from "../src/server.ts";
import { createServices } from "../src/services.ts";
import { asDocumented } from "./against-document.ts";

export type Changes = Partial<AppDeps>;
export type Core = Pick<AppDeps, "database" | "signal" | "observe">;

/** The app on its own database, with everything it logged and reported. */
export async function testApp(given: Changes | ((core: Core) => Changes) = {}) {
  const { database, drop, url: database_url } = await testDatabase();
  const early = typeof given === "function" ? {} : given;
  const written: string[] = [];
  const events: AtlasEvent[] = [];
  const logger = createLogger("debug", "atlasqueue-api", { write: (line) => void written.push(line) });
  const { registry, observe: count } = createMetrics();
  const observe = observeAll(logEvents(logger), count, (event) => void events.push(event));
  const signal = early.signal ?? memorySignal();
  const core = { database: early.database ?? database, signal, observe };
  const changes = typeof given === "function" ? given(core) : given;
  const deps: AppDeps = {
    ...core,
    ...createServices(core, {
      idempotency_ttl_seconds: 86_400,
      queues_per_tenant_max: 10_000,
      stored_bytes_per_tenant_max: 0,
    }),
    idempotency_ttl_seconds: 86_400,
    backoff: { baseSeconds: 5, maxSeconds: 3_600, jitterMaxSeconds: 2 },
    logger,
    metricsPage: () => registry.metrics(),
    body_bytes_max: limits.body_bytes_max,
    payload_bytes_max: limits.payload_bytes_max,
    ...changes,
  };
  const app = asDocumented(createApp(deps));
  return {
    app,
    deps,
    /** For another process on the same database. */
    database_url,
    events,
    async stop() {
      await deps.longPoll.close();
      await deps.longPoll.released();
      deps.finishedWaits.close();
      deps.liveEvents.close();
      deps.jobStreams.close();
      await deps.submitter.close();
      await deps.followUps.stop();
      await drop();
    },
    /** The log, one entry per line. */
    logLines: () => written.join("").trimEnd().split("\n"),
    get: async (path: string, headers: Record<string, string> = {}) =>
      app.request(`http://localhost${path}`, { headers }),
    /** Any request; a body goes as JSON. */
    send: async (method: string, path: string, token?: string, body?: unknown, headers: Record<string, string> = {}) =>
      app.request(`http://localhost${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    /** Submit with a key; `body` is sent as it is when it is text or bytes. */
    post: async (key: string, body: SubmitSingleInput | string | Uint8Array, headers: Record<string, string> = {}) =>
      app.request("http://localhost/v1/jobs", submission(key, body, headers)),
  };
}

export function submission(
  key: string,
  body: SubmitSingleInput | string | Uint8Array,
  headers: Record<string, string> = {},
) {
  const sent = typeof body === "string" ? body : body instanceof Uint8Array ? body.slice() : JSON.stringify(body);
  return {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key, ...headers },
    body: sent,
  };
}

/** A server for the app that a file's tests share. */
export const serverOf = (api: Pick<Awaited<ReturnType<typeof testApp>>, "app" | "deps">, timeouts = {}) =>
  forFile(async () => {
    const at = { host: "127.0.0.1", port: 0, timeouts };
    const server = await startServer(api.app, { ...at, logger: api.deps.logger });
    return { ...server, stop: () => server.stop(100) };
  });
