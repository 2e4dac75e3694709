import { defaultTenant, revokeToken } from "@atlasqueue/core/internal";
import { eventually, forFile } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";
import { toolCall } from "../../test/mcp-messages.ts";

const api = forFile(guardedApp);
let admin: string;
beforeAll(async () => {
  const { finishedWaits } = api.deps;
  const { until } = finishedWaits;
  finishedWaits.until = (job, ...rest) => (waited.push(job.id), until(job, ...rest));
  ({ token: admin } = await api.token("admin"));
});

const submit = async (queue: string): Promise<string> => {
  const stored = await api.post(queue, { type: "a", queue }, { authorization: `Bearer ${admin}` });
  return ((await stored.json()) as { id: string }).id;
};
const read = async (id: string): Promise<unknown> => (await api.send("GET", `/v1/jobs/${id}`, admin)).json();
/** The few seconds for which a process remembers a token are over. */
const forgetTokens = () => void (api.clock.ms += 5_000);
const waited: string[] = [];
const waitsFor = (job: string) => waited.includes(job);
const asksFor = (queue: string) => api.deps.longPoll.askedFor().some((asked) => asked.queue === queue);

test("a lease that waits returns 401 when its token ends", async () => {
  const { id, token } = await api.token("work");
  const waiting = api.send("POST", `/v1/queues/${id}/lease`, token, { worker_id: "w", wait_seconds: 30 });
  await eventually(() => asksFor(id));
  await revokeToken(api.deps, defaultTenant, id);
  forgetTokens();
  expect((await waiting).status).toBe(401);
  const job = await submit(id);
  expect(await read(job)).toMatchObject({ status: "queued", attempts: 0 });
});

test("a read that waits for a job returns 401 when its token ends", async () => {
  const { id, token } = await api.token("read");
  const job = await submit(id);
  const waiting = api.send("GET", `/v1/jobs/${job}?wait_seconds=30`, token);
  await eventually(() => waitsFor(job));
  await revokeToken(api.deps, defaultTenant, id);
  forgetTokens();
  expect((await waiting).status).toBe(401);
});

test.each([
  ["lease_job", (queue: string, _job: string) => ({ queue_name: queue, wait_seconds: 20 })],
  ["get_job_status", (_queue: string, job: string) => ({ job_id: job, wait_seconds: 20 })],
])("the MCP tool %s waits no longer than its token is valid", async (name, args) => {
  const { id, token } = await api.token("work", "read");
  const job = await submit(`${id}-other`);
  const waiting = api.send("POST", "/mcp?toolsets=read,work", token, toolCall(name, args(id, job)));
  await eventually(() => asksFor(id) || waitsFor(job));
  await revokeToken(api.deps, defaultTenant, id);
  forgetTokens();
  expect((await waiting).status).toBe(401);
  const own = await submit(id);
  expect(await read(own)).toMatchObject({ status: "queued", attempts: 0 });
});

test("an event stream ends when its token does, and says why", async () => {
  const { id, token } = await api.token("read");
  const stream = await api.send("GET", "/v1/events", token);
  await revokeToken(api.deps, defaultTenant, id);
  forgetTokens();
  const text = await stream.text();
  expect(text).toContain('event: end\ndata: {"reason":"token_ended"}');
});
