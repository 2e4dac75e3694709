// Not all of core, as this thread would load it a second time.
import { allowsHost } from "@atlasqueue/program/hosts";
import { serverLimits } from "@atlasqueue/program/server-limits";
import { parentPort, workerData } from "node:worker_threads";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import type { HealthRequest, HealthSettings, HealthStarted, Readiness } from "./messages.ts";

const watch_ms = 1_000;
/** An event loop that has not turned for this long is stuck. */
const stuck_ms_min = 4_000;
const answer_ms_max = 2_000;
/** Probes and scrapes: the files are for handlers. */
const connections_max = 100;

const { host, port, keep_alive_ms, allowed_hosts, hang_ms = Infinity, beats } = workerData as HealthSettings;
const parent = parentPort;
if (!parent) throw new Error("health-thread.ts is a worker thread of health-server.ts");

let beat = 0;
let beat_at = performance.now();
setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now === beat) return;
  beat = now;
  beat_at = performance.now();
}, watch_ms);
const stuckForMs = () => {
  const silent_ms = performance.now() - beat_at;
  return silent_ms >= stuck_ms_min ? silent_ms : 0;
};
const stuck = (seconds: number) => `the event loop has been stuck for ${Math.round(seconds)} s`;

let asked = 0;
const answers = new Map<number, (answer: unknown) => void>();
parent.on("message", ({ id, answer }: { id: number; answer: unknown }) => answers.get(id)?.(answer));
/** What the other thread answers in time. */
const askParent = <T>(kind: HealthRequest["kind"]) =>
  new Promise<T | undefined>((resolve) => {
    const id = (asked += 1);
    const timer = setTimeout(() => answers.get(id)?.(undefined), answer_ms_max);
    answers.set(id, (answer) => {
      clearTimeout(timer);
      answers.delete(id);
      resolve(answer as T | undefined);
    });
    parent.postMessage({ kind, id } satisfies HealthRequest);
  });

const app = new Hono()
  .use(async (c, next) => {
    if (allowsHost(allowed_hosts, new URL(c.req.url).hostname)) return next();
    return c.json({ status: "refused", reason: "this name is not among ALLOWED_HOSTS" }, 400);
  })
  .get("/livez", (c) => {
    const stuck_ms = stuckForMs();
    if (stuck_ms >= hang_ms) return c.json({ status: "unavailable", reason: stuck(stuck_ms / 1_000) }, 503);
    return c.json({ status: "ok", service: "atlasqueue-worker" });
  })
  .get("/readyz", async (c) => {
    const stuck_ms = stuckForMs();
    if (stuck_ms > 0) return c.json({ status: "unavailable", reason: stuck(stuck_ms / 1_000) }, 503);
    const answer = await askParent<Readiness>("readiness");
    if (!answer) return c.json({ status: "unavailable", reason: stuck(answer_ms_max / 1_000) }, 503);
    return c.json(answer.body, answer.ready ? 200 : 503);
  })
  .get("/metrics", async (c) => {
    const text = await askParent<string>("metrics");
    if (text === undefined) return c.json({ status: "unavailable", reason: "the event loop is stuck" }, 503);
    return c.text(text, 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  });

const limits = serverLimits({ keepAliveMs: keep_alive_ms, connectionsMax: connections_max });
const server = serve({ fetch: app.fetch, hostname: host, port, serverOptions: limits.options }, (info) => {
  parent.postMessage({ kind: "started", port: info.port } satisfies HealthStarted);
});
Object.assign(server, { timeout: limits.stalled_ms, maxConnections: limits.connections_max });
server.on("error", (error: NodeJS.ErrnoException) => {
  parent.postMessage({
    kind: "started",
    port,
    error: { message: error.message, code: error.code },
  } satisfies HealthStarted);
});
