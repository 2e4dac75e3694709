import { Writable } from "node:stream";
import { memorySignal } from "@atlasqueue/core";
import { eventually, testDatabase } from "@atlasqueue/testing";
import { expect, onTestFinished, test } from "vitest";
import { readApiConfig } from "./config.ts";
import { startApi } from "./start-api.ts";

test("a stop ends although a part of it never does, and the log says which", async () => {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  const waited = Promise.withResolvers<void>();
  const signal = memorySignal();
  signal.wait = () => {
    waited.resolve();
    return new Promise(() => {});
  };
  let lines = "";
  const log = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines += chunk.toString();
      done();
    },
  });
  const api = await startApi(readApiConfig({ DATABASE_URL: url, API_PORT: "0", SHUTDOWN_SECONDS: "1" }), {
    signal,
    log,
  });
  const leased = fetch(`${api.url}/v1/queues/q/lease`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ worker_id: "w", wait_seconds: 30 }),
  });
  await waited.promise;
  await api.stop();
  expect(await (await leased).json()).toMatchObject({ jobs: [] });
  await eventually(() => expect(lines).toContain('"event":"stop_late","part":"the waiting leases"'));
});

test("an idle connection stays open as long as API_KEEP_ALIVE_SECONDS says, at an IPv6 address in brackets too", async () => {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  const set = { DATABASE_URL: url, API_HOST: "[::1]", API_PORT: "0", API_KEEP_ALIVE_SECONDS: "620" };
  const api = await startApi(readApiConfig({ ...set, LOG_LEVEL: "ERROR" }));
  onTestFinished(api.stop);
  expect((await fetch(`${api.url}/livez`)).headers.get("keep-alive")).toBe("timeout=620");
});
