import { execFileSync } from "node:child_process";
import { createMetrics } from "@atlasqueue/core";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { readWorkerConfig } from "../config.ts";
import { startHealthServer } from "./health-server.ts";

const ready = async () => ({ ready: true, body: { status: "ok" } });

test("a worker whose event loop is stuck says so, while it is stuck", async () => {
  const health = await startHealthServer(createMetrics(), ready, { host: "127.0.0.1", port: 0, hang_ms: 1_000 });
  const status = async (path: string) => (await fetch(`${health.url}${path}`)).status;
  expect([await status("/livez"), await status("/readyz"), await status("/metrics")]).toEqual([200, 200, 200]);
  // The probe must come from outside this event loop: a child asks while it is blocked.
  for (const path of ["/readyz", "/livez"]) {
    const ask = `const end = Date.now() + 15000;
    (async () => { while (Date.now() < end) { const r = await fetch("${health.url}${path}"); if (r.status === 503) { console.log(await r.text()); return; } } })()`;
    const answer = execFileSync(process.execPath, ["-e", ask], { encoding: "utf8" });
    expect(JSON.parse(answer)).toMatchObject({
      status: "unavailable",
      reason: expect.stringContaining("event loop has been stuck"),
    });
  }
  await eventually(async () => expect(await status("/readyz")).toBe(200));
  expect(await status("/livez")).toBe(200);
  await health.stop();
});

test("the metrics port keeps an idle connection as long as the setting says", async () => {
  const { metrics } = readWorkerConfig({ DATABASE_URL: "postgres://localhost/queue", API_KEEP_ALIVE_SECONDS: "620" });
  const health = await startHealthServer(createMetrics(), ready, { ...metrics, port: 0 });
  expect((await fetch(`${health.url}/livez`)).headers.get("keep-alive")).toBe("timeout=620");
  await health.stop();
});

test("a metrics port in use is an error with its code, for the one-line message", async () => {
  const first = await startHealthServer(createMetrics(), ready, { host: "127.0.0.1", port: 0 });
  const port = Number(new URL(first.url).port);
  await expect(startHealthServer(createMetrics(), ready, { host: "127.0.0.1", port })).rejects.toMatchObject({
    code: "EADDRINUSE",
  });
  await first.stop();
});
