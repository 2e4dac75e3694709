import { complete } from "@atlasqueue/core/internal";
import { cancel } from "@atlasqueue/core/internal/http";
import { claim, fail } from "@atlasqueue/core/internal/worker";
import { job, type OpenQueueStatus } from "@atlasqueue/contract";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { openQueueClient } from "../../test/openqueue-client.ts";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);
const client = openQueueClient(api);

const later = "2099-01-01T00:00:00Z";
const statuses = ["scheduled", "queued", "failed", "running", "succeeded", "dead", "cancelled"] as const;

/** A job in a queue, brought to one of our statuses by our own transitions. */
async function jobIn(status: (typeof statuses)[number], queue: string): Promise<string> {
  const id = await client.submit({ queue_name: queue, payload: {}, ...(status === "scheduled" && { run_at: later }) });
  if (status === "scheduled" || status === "queued") return id;
  if (status === "cancelled") {
    await cancel(api.deps, "default", id);
    return id;
  }
  const claimer = { tenant: "default", queues: [queue], worker_id: "w1", lease_seconds: 30 };
  const [lease] = await claim(api.deps, [id], claimer);
  if (!lease) throw new Error("not claimed");
  const retry = { kind: "retry", delay_ms: 60_000 } as const;
  const dead = { kind: "dead", reason: "not_retryable" } as const;
  if (status === "succeeded") await complete(api.deps, [{ lease, result: null }]);
  if (status === "failed" || status === "dead")
    await fail(api.deps, [{ lease, error: "E: x", verdict: status === "dead" ? dead : retry }]);
  return id;
}

test.each([
  ["scheduled", "pending", 0],
  ["queued", "pending", 0],
  ["failed", "pending", 1],
  ["running", "processing", 0],
  ["succeeded", "completed", 0],
  ["dead", "dead", 0],
  ["cancelled", "cancelled", 0],
] as const)(
  "a job that is %s is %s here, with %i retries, and can be cancelled, once, if it is pending",
  async (status, word, retry_count) => {
    const queue = `word-${status}`;
    const id = await jobIn(status, queue);
    expect(await client.read(await client.send("GET", `/jobs/${id}`))).toEqual({ job_id: id, status: word });
    const before = await client.detail(id);
    expect(before).toMatchObject({ status: word, retry_count });
    const words: OpenQueueStatus[] = ["pending", "processing", "completed", "cancelled", "dead"];
    for (const one of words) {
      const page = await client.list(`?queue_name=${queue}&status=${one}`);
      expect([page.total, page.items.map((item) => item.id)]).toEqual(one === word ? [1, [id]] : [0, []]);
    }
    if (word === "pending") {
      expect(await client.read(await client.cancel(id))).toEqual({ job_id: id, status: "cancelled" });
      const after = { status: "cancelled", retry_count, finished_at: expect.any(String) };
      expect(await client.detail(id)).toMatchObject(after);
      expect(await client.lease(queue)).toBeNull();
    }
    const now = word === "pending" ? "cancelled" : word;
    expect(await client.errorOf(await client.cancel(id), 404)).toBe(`The job is not pending: it is ${now}`);
    if (word !== "pending") expect(await client.detail(id)).toEqual(before);
  },
);

test("a job behind another of its group is pending, and goes when the one ahead is cancelled here", async () => {
  const ahead = await api.post("group-1", { type: "a", queue: "grouped", group: "g" });
  const behind = await api.post("group-2", { type: "a", queue: "grouped", group: "g" });
  const [first, second] = [job.parse(await ahead.json()), job.parse(await behind.json())];
  expect(second.status).toBe("blocked");
  expect(await client.detail(second.id)).toMatchObject({ status: "pending", retry_count: 0 });
  expect((await client.list("?queue_name=grouped&status=pending")).total).toBe(2);
  expect((await client.cancel(first.id)).status).toBe(200);
  await eventually(async () => expect((await client.lease("grouped"))?.job.id).toBe(second.id));
});

test("the list is newest first, and its total the same on every page", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.unshift(await client.submit({ queue_name: "paged", payload: { n } }));
  await client.submit({ queue_name: "other", payload: {} });
  const page = async (offset: number) => {
    const { items, ...rest } = await client.list(`?queue_name=paged&limit=2&offset=${offset}`);
    expect(rest).toEqual({ total: 5, limit: 2, offset });
    return items.map(({ id }) => id);
  };
  expect([...(await page(0)), ...(await page(2)), ...(await page(4))]).toEqual(ids);
  expect(await page(3)).toEqual(ids.slice(3));
  expect(await page(5)).toEqual([]);
  expect(await page(10_000)).toEqual([]);
});

test("without parameters it is the newest 50 of all queues", async () => {
  const newest = await client.submit({ queue_name: "newest", payload: {} });
  const page = await client.list();
  expect(page).toMatchObject({ limit: 50, offset: 0 });
  expect(page.items[0]?.id).toBe(newest);
  expect(page.total).toBeGreaterThanOrEqual(page.items.length);
});

test("a cancel takes an empty body, whatever its declared type", async () => {
  const empty: [type: string, body: string | undefined][] = [
    ["application/json", undefined],
    ["text/plain", undefined],
    ["application/x-www-form-urlencoded", ""],
    ["application/json", ""],
    ["application/json", "{}"],
  ];
  for (const [type, body] of empty) {
    const id = await client.submit({ payload: {} });
    const response = await client.send("POST", `/jobs/${id}/cancel`, body, { "content-type": type });
    expect(await client.read(response), `${type} ${body}`).toEqual({ job_id: id, status: "cancelled" });
  }
  const id = await client.submit({ payload: {} });
  const bare = await api.app.request(`http://localhost/jobs/${id}/cancel`, { method: "POST" });
  expect(bare.status).toBe(200);
  expect((await client.send("POST", `/jobs/${id}/cancel`, { force: true })).status).toBe(422);
});
