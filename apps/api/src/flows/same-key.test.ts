import { connectDatabase } from "@atlasqueue/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

let one: Awaited<ReturnType<typeof testApp>>;
let two: Awaited<ReturnType<typeof testApp>>;
beforeAll(async () => {
  one = await testApp();
  two = await testApp({ database: connectDatabase({ url: one.database_url, connectionsMax: 5, timeoutMs: 5_000 }) });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});
const flow = {
  jobs: [
    { ref: "a", type: "a" },
    { type: "b", depends_on: ["a"] },
  ],
};
const submit = (api: typeof one, key: string, body: object = flow) =>
  api.send("POST", "/v1/jobs/batch", undefined, body, { "idempotency-key": key });

test("one flow under one key, sent to two servers at once: both answer it", async () => {
  const statuses: Record<string, number> = {};
  for (let nth = 0; nth < 50; nth += 1)
    for (const { status } of await Promise.all([submit(one, `k${nth}`), submit(two, `k${nth}`)]))
      statuses[status] = (statuses[status] ?? 0) + 1;
  expect(statuses).toEqual({ 201: 100 });
});

test("one flow under one key, sent 50 times at once to one server: all answer it", async () => {
  const statuses: Record<string, number> = {};
  for (const { status } of await Promise.all(Array.from({ length: 50 }, () => submit(one, "same"))))
    statuses[status] = (statuses[status] ?? 0) + 1;
  expect(statuses).toEqual({ 201: 50 });
});

test("of two flows under one key at the same time one is stored whole, and nothing of the other", async () => {
  const large = { jobs: [...flow.jobs, { type: "extra" }] };
  let stored = 0;
  for (let nth = 0; nth < 20; nth += 1) {
    // The first is on its way when the other two come, so that these share a statement.
    const [, first, second] = await Promise.all([
      submit(one, `warm${nth}`),
      submit(one, `mixed${nth}`),
      submit(one, `mixed${nth}`, large),
    ]);
    expect([first.status, second.status].toSorted()).toEqual([201, 422]);
    if (second.status === 201) stored += 1;
  }
  expect(await one.deps.database.sql`SELECT FROM atlasqueue.jobs WHERE type = 'extra'`).toHaveLength(stored);
});
