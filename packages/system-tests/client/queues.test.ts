import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { all, clientOf, failed, testApi } from "./test-api.ts";
import { NotFoundError, ValidationError } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

test("a queue is limited, and its limits are replaced", async () => {
  const rate = { limit: 5, period_seconds: 60 };
  const unlimited = { concurrency: null, group_concurrency: null, rate: null, group_rate: null, fair_by: null };
  expect((await client.setLimits("limited", { concurrency: 2, rate })).limits).toEqual({
    ...unlimited,
    concurrency: 2,
    rate,
  });
  const fair = { fair_by: "group", group_concurrency: 20 } as const;
  expect((await client.setLimits("limited", fair)).limits).toEqual({ ...unlimited, ...fair });
  expect((await client.setLimits("limited", {})).limits).toEqual(unlimited);
  expect(await failed(client.setLimits("limited", { concurrency: 0 }))).toBeInstanceOf(ValidationError);
});

test("a queue is paused, explained, resumed and counted", async () => {
  // A second one, for a second page.
  await client.submit({ type: "a", queue: "other" });
  expect(await client.pause("paused")).toMatchObject({ queue: "paused", paused: true });
  expect(await client.pause("paused")).toMatchObject({ paused: true });
  const { id } = await client.submit({ type: "a", queue: "paused" });
  expect(await client.lease("paused", { workerId: "w" })).toEqual([]);
  expect(await client.explain(id)).toMatchObject({ reasons: [{ code: "no_worker" }, { code: "queue_paused" }, {}] });
  expect(await client.resume("paused")).toMatchObject({ paused: false, counts: { queued: 1 } });
  expect(await client.lease("paused", { workerId: "w" })).toHaveLength(1);
  expect(await client.queues()).toContainEqual(
    expect.objectContaining({ queue: "paused", paused: false, counts: expect.objectContaining({ running: 1 }) }),
  );
  expect(await client.scaling("paused")).toMatchObject({ queue: "paused", running: 1, backlog: 1 });
  const { items, next_cursor } = await client.queuePage({ limit: 1 });
  expect(items).toHaveLength(1);
  const rest = await client.queuePage(next_cursor === null ? {} : { cursor: next_cursor });
  expect([...items, ...rest.items].map(({ queue }) => queue)).toEqual(
    (await client.queues()).map(({ queue }) => queue),
  );
});

test("a schedule is put, listed, paused, resumed and deleted", async () => {
  const { schedules } = client;
  const job = { type: "report.send", payload: { to: "ada@example.org" } };
  const put = await schedules.put({ name: "report", cron: "30 2 * * *", timezone: "Europe/Berlin", job });
  expect(put).toMatchObject({ paused: false, catch_up: "one", job });
  expect(put.next_runs).toHaveLength(5);
  expect(await schedules.get("report")).toEqual(put);
  expect(await all(schedules.list())).toEqual([put]);
  expect(await schedules.pause("report")).toMatchObject({ paused: true });
  expect(await schedules.resume("report")).toMatchObject({ paused: false });
  await schedules.delete("report");
  expect(await failed(schedules.get("report"))).toBeInstanceOf(NotFoundError);
  expect(await failed(schedules.put({ name: "never", cron: "0 0 30 2 *", job }))).toBeInstanceOf(ValidationError);
});
