// @module-tag slow
import { expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { startSystem } from "./system.ts";

const system = forFile(startSystem);

const post = async (url: string, body: object) =>
  (await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  }).then((answer) => answer.json())) as { jobs: { job: { id: string; attempts: number }; lease_token: string }[] };

test("with only remote workers, an API takes back lost leases, and lost signals are sent again", async () => {
  const api = await system.startApi();
  const lease = (seconds: number, wait_seconds = 20) =>
    post(`${api.url}/v1/queues/default/lease`, { worker_id: "remote", lease_seconds: seconds, wait_seconds });
  const id = await api.create({ type: "remote" });
  expect((await lease(1)).jobs[0]?.job.id).toBe(id);
  // Its worker is never heard from again. A request waits for a third of its lease at most.
  expect((await lease(60)).jobs[0]?.job).toMatchObject({ id, attempts: 2 });

  const later = await api.create({ type: "remote", delay_seconds: 3 });
  await system.redis.flushall();
  expect((await lease(30)).jobs[0]?.job.id).toBe(later);

  const lost = await api.create({ type: "remote" });
  await system.redis.flushall();
  await eventually(async () => expect((await lease(30, 1)).jobs[0]?.job.id).toBe(lost), { timeout_ms: 15_000 });
});
