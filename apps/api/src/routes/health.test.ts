import { memorySignal, connectDatabase } from "@atlasqueue/core";
import { SignalUnavailableError, type SignalState } from "@atlasqueue/core/internal";
import { testDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const unusable = (state: SignalState) => ({
  ...memorySignal(),
  state: () => state,
  check: () => Promise.reject(new SignalUnavailableError("away")),
});

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
  const degraded = await testApp({ signal: unusable("down") });
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

test("a Redis that refuses writes degrades it", async () => {
  const full = await testApp({ signal: unusable("refusing") });
  expect(await (await full.get("/readyz")).json()).toEqual({
    status: "degraded",
    checks: { postgres: "up", redis: "refusing" },
  });
  await full.stop();
});

test("a Postgres that became read-only makes it unavailable: it answers, and no job can be stored", async () => {
  const own = await testDatabase();
  await own.database.sql.unsafe(`ALTER DATABASE "${own.name}" SET default_transaction_read_only = on`);
  const database = connectDatabase({ url: own.url, connections_max: 1, timeout_ms: 5_000 });
  const readOnly = await testApp({ database });
  const answer = await readOnly.get("/readyz");
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ status: "unavailable", checks: { postgres: "read_only", redis: "up" } });
  await Promise.all([readOnly.stop(), database.close()]);
  await own.drop();
});
