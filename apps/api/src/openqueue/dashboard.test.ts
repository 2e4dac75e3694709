import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { openQueueClient } from "../../test/openqueue-client.ts";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);
const client = openQueueClient(api);

const rowOf = async (queue: string) => (await client.queues()).find(({ queue_name }) => queue_name === queue);

test("every job is counted under its word; those waiting for a retry are shown separately, and counted once", async () => {
  const queue_name = "mail";
  const scheduled = await client.submit({ queue_name, payload: {}, run_at: "2099-01-01T00:00:00Z" });
  for (let n = 0; n < 5; n += 1) await client.submit({ queue_name, payload: { n } });
  await client.settle("ack", await client.leaseOne(queue_name));
  await client.settle("nack", await client.leaseOne(queue_name), { error: "x" });
  await client.settle("nack", await client.leaseOne(queue_name), { error: "x", retry: false });
  await client.leaseOne(queue_name);
  const cancelled = await client.submit({ queue_name, payload: {} });
  await client.cancel(cancelled);
  const { created_at } = await client.detail(scheduled);
  expect(await rowOf("mail")).toEqual({
    queue_name,
    pending: 3,
    processing: 1,
    completed: 1,
    failed: 1,
    cancelled: 1,
    dead: 1,
    total: 7,
    oldest_pending_created_at: created_at,
  });
  expect((await client.list("?queue_name=mail&status=pending")).total).toBe(3);
  expect((await client.list("?queue_name=mail")).total).toBe(7);
});

test("the oldest pending job is the first one made, whether it is ready, or waiting for its time or a retry", async () => {
  const first = await client.submit({ queue_name: "old", payload: {} });
  const { created_at } = await client.detail(first);
  await client.submit({ queue_name: "old", payload: {}, priority: 9 });
  expect((await rowOf("old"))?.oldest_pending_created_at).toBe(created_at);
  const high = await client.leaseOne("old");
  await client.settle("nack", await client.leaseOne("old"), { error: "x" });
  await client.settle("ack", high);
  expect(await rowOf("old")).toMatchObject({ pending: 1, failed: 1, oldest_pending_created_at: created_at });
  await client.cancel(first);
  expect(await rowOf("old")).toMatchObject({ pending: 0, oldest_pending_created_at: null });
});
