import { readApiConfig, startApi, type RunningApi } from "@atlasqueue/api";
import { createClient, type Client } from "@atlasqueue/client";
import { connectDatabase, createLogger, redisSignal, type Signal } from "@atlasqueue/core";
import { createToken } from "@atlasqueue/core/internal";
import type { TokenWish } from "@atlasqueue/core/internal/tools";
import { eventually, redisUrl, tcpProxy, testDatabase, uniqueKeys } from "@atlasqueue/harness";
import { startWorker, type Worker } from "@atlasqueue/worker";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { startBrowser } from "../../api/test/browser.ts";
import { handlers } from "./handlers.ts";

/** A whole system with the dashboard, and a browser in front of it. */
export type World = Awaited<ReturnType<typeof createWorld>>;

/**
 * PostgreSQL, Redis, a worker, and two APIs in front of them: `open` asks nobody, `guarded` asks for a token. The open
 * one reaches its servers through proxies, which a test can cut.
 */
export async function createWorld() {
  const { url, drop } = await testDatabase();
  const keys = uniqueKeys();
  const [postgres, redis] = await Promise.all([tcpProxy(url), tcpProxy(redisUrl())]);
  const env = { JOB_QUEUE_KEY: keys.jobsKey, DLQ_KEY: keys.dlqKey, LOG_LEVEL: "fatal", API_PORT: "0" };
  const config = (more: Record<string, string>) => readApiConfig({ ...env, ...more });
  const TRACE_URL_TEMPLATE = "https://traces.example/{trace_id}";
  const openConfig = config({ DATABASE_URL: postgres.url, REDIS_URL: redis.url, TRACE_URL_TEMPLATE });
  const open = await startApi(openConfig);
  const guarded = await startApi(config({ DATABASE_URL: url, REDIS_URL: redisUrl(), AUTH: "required" }));
  const own = connectDatabase({ url, connectionsMax: 4, timeoutMs: 15_000 });
  const signal = redisSignal({
    url: redisUrl(),
    keys: { jobs: keys.jobsKey, deadLetters: keys.dlqKey },
  });
  const worker = workerOf({ own, signal });
  const browser = await startBrowser();
  let api: RunningApi = open;

  return {
    open: { url: open.url, client: createClient({ url: open.url }) },
    guarded: { url: guarded.url, client: createClient({ url: guarded.url }) },
    postgres,
    redis,
    browser,
    /** A token of the default tenant. */
    async token(scopes: TokenWish["scopes"], name = "ops") {
      const made = await createToken({ database: own, observe: () => {} }, { tenant: "default", name, scopes });
      if (made.kind !== "created") throw new Error(made.kind);
      return { token: made.token, id: made.row.id };
    },
    /** Stop the open API, and start it again where it was. */
    stopApi: () => api.stop(),
    async startApi() {
      api = await startApi({ ...openConfig, listen: { host: "127.0.0.1", port: open.port } });
    },
    async stop() {
      await browser.close();
      await worker.stop({ deadlineMs: 1_000 });
      await Promise.all([api.stop(), guarded.stop(), signal.close(), own.close()]);
      await Promise.all([postgres.close(), redis.close()]);
      await drop();
    },
  };
}

function workerOf({ own, signal }: { own: ReturnType<typeof connectDatabase>; signal: Signal }): Worker {
  const logger = createLogger("fatal", "worker");
  const backoff = { baseSeconds: 0.05, maxSeconds: 0.1, jitterMaxSeconds: 0.05 };
  return startWorker(
    { database: own, signal, observe: () => {}, logger },
    // A job of a type without a handler is dead at once: pages have dead letters to show.
    {
      handlers,
      queues: ["default", "mails", "reports"],
      concurrency: 4,
      pollTimeoutSeconds: 1,
      unknownTypeSeconds: 0,
      backoff,
    },
  );
}

export type Visit = { page: Page; context: BrowserContext; complaints: string[] };

const step_ms_max = 20_000;

/** A page that records what the browser complains about: errors, and what the policy refuses. */
export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 }, ...options });
  context.setDefaultTimeout(step_ms_max);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // On a busy machine PostgreSQL may be late for once. The page asks again; what it says meanwhile has tests of its own.
    const is_late = message.text().includes("status of 503");
    if (["error", "warning"].includes(message.type()) && !is_late) complaints.push(message.text());
  });
  await page.goto(url);
  return { page, context, complaints };
}

/** The same for one test, after which it is closed. */
export async function visit(...given: Parameters<typeof openPage>): Promise<Visit> {
  const opened = await openPage(...given);
  onTestFinished(() => opened.context.close());
  return opened;
}

/** As long as a page waits at most before it asks by itself. */
const poll_ms = 10_000;

/**
 * A page whose time can leap. That it asks by itself is what such a test looks at, not how long it takes.
 *
 * @example
 * const { page, leapUntil } = await visitInTime(browser, url, /v1.queues/);
 * await leapUntil(async () => expect(await page.getByText("mails").count()).toBe(1));
 */
export async function visitInTime(browser: Browser, url: string, asked: RegExp) {
  const found = await visit(browser, "about:blank");
  await found.page.clock.install();
  await found.page.goto(url);
  const leap = async () => {
    // One leap for each answer: more of them would use up the time that a request may take.
    const answer = found.page.waitForResponse(asked).catch(() => {});
    await found.page.clock.fastForward(poll_ms);
    await answer;
  };
  const leapUntil = (check: () => Promise<void>) =>
    eventually(async () => {
      await leap();
      await check();
    });
  return { ...found, leapUntil };
}

/** Waits until a job has a status. */
export async function becomes(client: Client, id: string, status: string): Promise<void> {
  await eventually(async () => (await client.get(id)).status === status, { message: `${id} is ${status}` });
}
