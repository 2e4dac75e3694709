import { memorySignal, SignalUnavailableError, connectDatabase } from "@atlasqueue/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const away = { ...memorySignal(), look: () => Promise.reject(new SignalUnavailableError("away")) };

let api: Awaited<ReturnType<typeof testApp>>;
beforeAll(async () => {
  api = await testApp();
});
afterAll(() => api.stop());

test("/health and /livez answer without asking anybody", async () => {
  expect(await (await api.get("/health")).json()).toEqual({ status: "ok", service: "atlasqueue-api" });
  expect((await api.get("/livez")).status).toBe(200);
});

test.each(["/readyz", "/ready"])("%s is ok when Postgres and Redis are up", async (path) => {
  const response = await api.get(path);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: "ok", checks: { postgres: "up", redis: "up" } });
});

test("without Redis it is degraded and ready; without Postgres it is neither", async () => {
  const degraded = await testApp({ signal: away });
  const response = await degraded.get("/readyz");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: "degraded", checks: { postgres: "up", redis: "down" } });
  await degraded.stop();

  const nowhere = connectDatabase({ url: "postgres://127.0.0.1:1/none", connections_max: 1, timeout_ms: 500 });
  const unavailable = await testApp({ database: nowhere });
  const refused = await unavailable.get("/readyz");
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({ status: "unavailable", checks: { postgres: "down", redis: "up" } });
  expect((await unavailable.get("/livez")).status).toBe(200);
  await Promise.all([unavailable.stop(), nowhere.close()]);
});
