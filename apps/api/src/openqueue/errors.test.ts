import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { openQueueClient } from "../../test/openqueue-client.ts";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);
const client = openQueueClient(api);

test("429: a tenant that calls too often learns when to come back; a batch costs one permit per job", async () => {
  const limited = await testApp({ rate_limit: { limit: 3, period_ms: 3_600_000 } });
  const { send } = openQueueClient(limited);
  const batch = await send("POST", "/jobs/batch", { jobs: [{ payload: {} }, { payload: {} }, { payload: {} }] });
  expect([batch.status, batch.headers.get("ratelimit")]).toEqual([201, expect.stringContaining("r=0")]);
  expect((await send("POST", "/jobs/batch", { jobs: [{ payload: {} }] })).status).toBe(429);
  expect(await limited.deps.database.sql`SELECT FROM atlasqueue.jobs`).toHaveLength(3);
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
