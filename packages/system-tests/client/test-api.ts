import {
  createClient,
  type Client,
  type ClientOptions,
  type Handler,
  type HandlerFunction,
  type JsonObject,
  type WorkOptions,
} from "@atlasqueue/client";
import { readApiConfig, startApi, type RunningApi } from "@atlasqueue/api";
import {
  forFile,
  redisUrl,
  tcpProxy,
  testDatabase,
  uniqueKeys,
  type TcpProxy,
  type TestDatabase,
} from "@atlasqueue/harness";
import { onTestFinished } from "vitest";
import { standStill } from "../../client/test/stand-still.ts";
import { recorder } from "./recorder.ts";

export type TestApi = {
  readonly url: string;
  /** Its own, for what others do there. */
  readonly database: TestDatabase["database"];
  /** Between the API and its database. */
  readonly network: TcpProxy;
  /** Away until `start`, which brings it back on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it for good. */
  close(): Promise<void>;
};

/** A real API on a port, over a database of its own and the run's Redis. Failed jobs are due again at once. */
export async function testApi(settings: Record<string, string> = {}): Promise<TestApi> {
  const { url, database, drop } = await testDatabase();
  const network = await tcpProxy(url);
  const { jobsKey, dlqKey } = uniqueKeys();
  const run = (port: number) =>
    startApi(
      readApiConfig({
        DATABASE_URL: network.url,
        REDIS_URL: redisUrl(),
        JOB_QUEUE_KEY: jobsKey,
        DLQ_KEY: dlqKey,
        API_PORT: String(port),
        RETRY_BASE_DELAY_SECONDS: "0",
        RETRY_JITTER_MAX_SECONDS: "0",
        DATABASE_TIMEOUT_SECONDS: "15",
        SHUTDOWN_SECONDS: "1",
        LOG_LEVEL: "ERROR",
        ...settings,
      }),
    );
  let api: RunningApi = await run(0);
  return {
    url: api.url,
    database,
    network,
    stop: () => api.stop(),
    start: async () => {
      api = await run(api.port);
    },
    close: async () => {
      await api.stop();
      await network.close();
      await drop();
    },
  };
}

/** A client of an API that a file's tests share. */
export const clientOf = (api: TestApi, options: Omit<ClientOptions, "url"> = {}): Client =>
  forFile(async () => ({ ...createClient({ ...options, url: api.url }), close: () => {} }));

/** What a call rejects with; undefined if it does not. */
export const failed = (call: Promise<unknown>): Promise<unknown> => call.then(() => undefined).catch((error) => error);

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Starts remote workers for one test each, and returns what they report. */
export const workersOf =
  (client: Client, always: WorkOptions = {}) =>
  (queue: string | Record<string, number>, handlers: Handlers, options: WorkOptions = {}) => {
    const told = recorder();
    const worker = client.work(queue, handlers, { observe: told.observe, ...always, ...options });
    onTestFinished(() => worker.stop({ deadlineMs: 0 }));
    return { worker, ...told };
  };
type Handlers = HandlerFunction<JsonObject> | Handler | readonly Handler[];

/** A fetch of a process that stands still for so long while the first answer with jobs lies in its socket. */
export function lateFetch(ms: number): typeof fetch {
  let stood = false;
  return async (input, init) => {
    const response = await fetch(input, init);
    const text = await response.text();
    if (!stood && text.includes('"lease_token"')) {
      stood = true;
      standStill(ms);
    }
    return new Response(text, response);
  };
}
