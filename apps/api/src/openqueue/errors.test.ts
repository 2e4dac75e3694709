import { forFile } from "@atlasqueue/harness";
import { connectDatabase } from "@atlasqueue/core";
import { expect, test } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";
import { openQueueClient } from "../../test/openqueue-client.ts";
import { testApp } from "../../test/test-app.ts";
import { createGate } from "../http/gate.ts";

const api = forFile(testApp);
const client = openQueueClient(api);

const nobody = "01920000-0000-7000-8000-000000000000";

test("401 and 403: without a token, and with one for something else", async () => {
  const guarded = await guardedApp();
  const missing = await guarded.send("GET", "/dashboard/queues");
  expect(missing.headers.get("www-authenticate")).toBe('Bearer realm="atlasqueue"');
  expect(await client.errorOf(missing, 401)).toBe("Send a token: Authorization: Bearer aq_…");
  const { token } = await guarded.token("submit");
  const forbidden = await guarded.send("GET", "/dashboard/queues", token);
  expect(await client.errorOf(forbidden, 403)).toBe('This needs a token with the scope "read"');
  await guarded.stop();
});

test("429: a tenant that calls too often learns when to come back; a batch costs one permit per job", async () => {
  const limited = await testApp({ rate_limit: { limit: 3, period_ms: 3_600_000 } });
  const { send } = openQueueClient(limited);
  const batch = await send("POST", "/jobs/batch", { jobs: [{ payload: {} }, { payload: {} }, { payload: {} }] });
  expect([batch.status, batch.headers.get("ratelimit")]).toEqual([201, expect.stringContaining("r=0")]);
  const refused = await send("GET", "/jobs");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.headers.get("ratelimit-policy")).toContain("q=3");
  expect(await client.errorOf(refused, 429)).toBe("The tenant may make 3 requests in 3600 s");
  await limited.stop();
});

test("422: every wrong part is in the list, a batch item by its position", async () => {
  const response = await client.send("POST", "/jobs/batch", { jobs: [{ payload: {} }, { priority: 0.5 }] });
  expect(await client.errorOf(response, 422)).toEqual([
    { loc: ["body", "jobs", 1, "payload"], msg: "is required: a JSON object", type: "value_error" },
    {
      loc: ["body", "jobs", 1, "priority"],
      msg: expect.stringContaining("must be an integer from -1000 to 1000"),
      type: "value_error",
    },
  ]);
});

test("503 and 500: the causes go to the log, and the client learns when to try again", { tags: ["slow"] }, async () => {
  const away = await testApp({
    database: connectDatabase({ url: "postgres://127.0.0.1:1/nowhere", connectionsMax: 1, timeoutMs: 500 }),
  });
  const down = await openQueueClient(away).send("GET", `/jobs/${nobody}`);
  expect(down.headers.get("retry-after")).toBe("1");
  expect(await client.errorOf(down, 503)).toBe("The database did not answer");
  await away.stop();

  const broken = await testApp({ gate: { ...createGate(), hold: () => Promise.reject(new Error("secret")) } });
  const failed = await openQueueClient(broken).send("GET", `/jobs/${nobody}`);
  expect(await client.errorOf(failed, 500)).toBe("Internal error. Search the server log for this request id.");
  expect(broken.logLines().join("\n")).toContain("secret");
  await broken.stop();
});
