import { memorySignal, connectDatabase } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import type { SignalState } from "../../../../packages/core/src/signal/signal.ts";
import { testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const unusable = (state: SignalState) => ({
  ...memorySignal(),
  state: () => state,
  check: () => Promise.reject(new SignalUnavailableError("away")),
});

const pool = { open: expect.any(Number), busy: expect.any(Number), max: expect.any(Number), waiting: 0 };

const api = forFile(testApp);

test("/health and /livez answer without asking anything", async () => {
  expect(await (await api.get("/health")).json()).toEqual({ status: "ok", service: "atlasqueue-api" });
  expect((await api.get("/livez")).status).toBe(200);
});

test.each(["/readyz", "/ready"])("%s is ok when Postgres and Redis are up", async (path) => {
  const response = await api.get(path);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: "ok", checks: { postgres: "up", redis: "up" }, connections: pool });
});

test.each(["down", "refusing"] as const)("with a Redis that is %s it is degraded and ready", async (redis) => {
  const degraded = await testApp({ signal: unusable(redis) });
  const response = await degraded.get("/readyz");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    status: "degraded",
    checks: { postgres: "up", redis },
    connections: pool,
    reason: "away",
  });
  await degraded.stop();
});

test("without Postgres it is unavailable, and alive", { tags: ["slow"] }, async () => {
  const nowhere = connectDatabase({ url: "postgres://127.0.0.1:1/none", connectionsMax: 1, timeoutMs: 500 });
  const unavailable = await testApp({ database: nowhere });
  const refused = await unavailable.get("/readyz");
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({
    status: "unavailable",
    checks: { postgres: "down", redis: "up" },
    connections: { open: 0, busy: 0, max: 1, waiting: 0 },
  });
  expect((await unavailable.get("/livez")).status).toBe(200);
  await Promise.all([unavailable.stop(), nowhere.close()]);
});

test("a read-only Postgres makes it unavailable, and a request for which no job can be stored says so", async () => {
  const own = await testDatabase();
  await own.database.sql.unsafe(`ALTER DATABASE "${own.name}" SET default_transaction_read_only = on`);
  const database = connectDatabase({ url: own.url, connectionsMax: 1, timeoutMs: 5_000 });
  const readOnly = await testApp({ database });
  const answer = await readOnly.get("/readyz");
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({
    status: "unavailable",
    checks: { postgres: "read_only", redis: "up" },
    connections: pool,
  });
  const refused = await readOnly.post("key", { type: "a" });
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    {
      type: "/problems/unavailable",
      title: "The database is unavailable; try again with the same Idempotency-Key",
      detail: "The database is read-only: it takes no writes",
    },
  ]);
  await Promise.all([readOnly.stop(), database.close()]);
  await own.drop();
});

test("a process whose connections are all busy says so, although Postgres is up", { tags: ["slow"] }, async () => {
  const own = await testDatabase();
  const database = connectDatabase({ url: own.url, connectionsMax: 1, timeoutMs: 500 });
  const busy = await testApp({ database });
  const free = Promise.withResolvers<void>();
  const held = database.sql.begin(() => free.promise);
  const answer = await busy.get("/readyz");
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    checks: { postgres: "down" },
    connections: { open: 1, busy: 1, max: 1 },
  });
  free.resolve();
  await held;
  expect((await busy.get("/readyz")).status).toBe(200);
  await Promise.all([busy.stop(), database.close()]);
  await own.drop();
});
