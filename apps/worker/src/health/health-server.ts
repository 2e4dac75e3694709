import { Worker } from "node:worker_threads";
import type { Metrics } from "@atlasqueue/core";
import type { HealthRequest, HealthSettings, HealthStarted, Readiness } from "./messages.ts";

export type HealthServer = { url: string; stop(): Promise<void> };

const beat_ms = 1_000;

/**
 * /livez, /readyz and /metrics of a worker. They are answered on a separate thread, which watches this one's heartbeat:
 * a handler that blocks the event loop makes the worker "not ready" instead of silent. While the loop turns, `ask` says
 * what /readyz answers. One that has not turned for `hang_ms` is not alive
 * either: the supervisor should restart the process. Rejects when the port is not available.
 */
export async function startHealthServer(
  metrics: Metrics,
  ask: () => Promise<Readiness>,
  address: Pick<HealthSettings, "host" | "port" | "keep_alive_ms" | "allowed_hosts" | "hang_ms">,
): Promise<HealthServer> {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const settings: HealthSettings = { ...address, beats };
  // The source runs as .ts in the workspace and as .js when published.
  const file = import.meta.url.endsWith(".ts") ? "./health-thread.ts" : "./health-thread.js";
  const thread = new Worker(new URL(file, import.meta.url), { workerData: settings });
  const heart = setInterval(() => Atomics.add(beats, 0, 1), beat_ms);
  const started = Promise.withResolvers<number>();
  thread.on("error", started.reject);
  thread.on("message", async (message: HealthRequest | HealthStarted) => {
    // By its kind: a probe may ask before the thread has reported that it is there.
    if (message.kind === "started") settle(message);
    if (message.kind === "metrics") thread.postMessage({ id: message.id, answer: await metrics.registry.metrics() });
    if (message.kind === "readiness") thread.postMessage({ id: message.id, answer: await ask() });
  });
  const settle = ({ port, error }: HealthStarted): void => {
    const { host } = address;
    if (error === undefined) started.resolve(port);
    else
      started.reject(Object.assign(new Error(error.message), { code: error.code, address: host, port: address.port }));
  };
  try {
    const port = await started.promise;
    const url = `http://${address.host.includes(":") ? `[${address.host}]` : address.host}:${port}`;
    return {
      url,
      async stop() {
        clearInterval(heart);
        await thread.terminate();
      },
    };
  } catch (error) {
    clearInterval(heart);
    await thread.terminate();
    throw error;
  }
}
