import { forFile } from "@atlasqueue/harness";
import { createQueueBound } from "@atlasqueue/core/internal/http";
import { beforeAll, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../test/guarded-app.ts";

const api = forFile(() => guardedApp((core) => ({ queueBound: createQueueBound(core, { queues_per_tenant_max: 2 }) })));
let token: string;
let other: string;
beforeAll(async () => {
  token = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
  other = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
  expect((await submit("first", token)).status).toBe(201);
  expect((await submit("second", token)).status).toBe(201);
});

let keys = 0;
const submit = (queue: string, of: string) =>
  api.send("POST", "/v1/jobs", of, { type: "noop", queue }, { "idempotency-key": `key-${(keys += 1)}` });
const template = (queue: string) => ({ cron: "0 0 * * *", job: { type: "noop", queue } });

/** Everything that creates a queue name, for a queue with this name. */
const ways: Record<string, (queue: string) => Promise<Response>> = {
  "POST /v1/jobs": (queue) => submit(queue, token),
  "POST /v1/jobs/batch": (queue) =>
    api.send("POST", "/v1/jobs/batch", token, {
      jobs: ["first", queue].map((name) => ({ type: "noop", queue: name, idempotency_key: `key-${(keys += 1)}` })),
    }),
  "POST /v1/queues/{queue}/pause": (queue) => api.send("POST", `/v1/queues/${queue}/pause`, token),
  "PUT /v1/queues/{queue}/limits": (queue) => api.send("PUT", `/v1/queues/${queue}/limits`, token, { concurrency: 3 }),
  "POST /v1/schedules": (queue) => api.send("POST", "/v1/schedules", token, { name: queue, ...template(queue) }),
  "PUT /v1/schedules/{name}": (queue) => api.send("PUT", "/v1/schedules/again", token, template(queue)),
  "POST /jobs": (queue) => api.send("POST", "/jobs", token, { queue_name: queue, payload: {} }),
  "POST /jobs/batch": (queue) => api.send("POST", "/jobs/batch", token, { jobs: [{ queue_name: queue, payload: {} }] }),
};

const rows = async () => {
  const [row] = await api.deps.database.sql<{ rows: number }[]>`
    SELECT ((SELECT count(*) FROM atlasqueue.jobs) + (SELECT count(*) FROM atlasqueue.queues) + (SELECT count(*) FROM atlasqueue.schedules))::int AS rows`;
  return row?.rows;
};

test.each(Object.entries(ways))("%s is refused for one queue too many", async (path, way) => {
  const before = await rows();
  const answer = await way("third");
  expect(answer.status).toBe(429);
  expect(answer.headers.get("retry-after")).toBe("60");
  const body = (await answer.json()) as { type?: string; detail: string };
  expect(body.detail).toContain('There may be 2 queues, and "third" would be one more');
  if (path.includes("/v1/")) expect(body.type).toBe("/problems/too-many-queues");
  expect(await rows()).toBe(before);
});

test.each(Object.entries(ways))("%s still works for an existing queue", async (_, way) => {
  expect((await way("second")).ok).toBe(true);
});

test("another tenant has its own room, and a queue that does not exist may be resumed", async () => {
  expect((await submit("third", other)).status).toBe(201);
  expect((await api.send("POST", "/v1/queues/third/resume", token)).status).toBe(200);
});
