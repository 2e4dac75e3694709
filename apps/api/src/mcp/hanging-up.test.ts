import { eventually, forFile } from "@atlasqueue/harness";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";
import { meta, modern } from "../../test/mcp-messages.ts";
import { serverOf } from "../../test/test-app.ts";
import { createServices } from "../services.ts";

const api = forFile(guardedApp);
const server = serverOf(api);
let token: string;
beforeAll(async () => void ({ token } = await api.token("admin")));

const old = { jsonrpc: "2.0", id: 1, method: "tools/call" };
test.each([
  ["2026-07-28", { ...modern, "mcp-method": "tools/call", "mcp-name": "get_job_status" }, { _meta: meta }],
  ["the protocols before it", {}, {}],
])("a caller of %s who hangs up ends what waits for them, and leaves no error behind", async (era, headers, params) => {
  const stored = await api.post(`long ${era}`, { type: "long" }, { authorization: `Bearer ${token}` });
  const { id } = (await stored.json()) as { id: string };
  const waits = { name: "get_job_status", arguments: { job_id: id, wait_seconds: 20 } };
  const gone = new AbortController();
  const before = api.events.length;
  const started = performance.now();
  const asked = fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...old, params: { ...waits, ...params } }),
    signal: gone.signal,
  });
  const requests = () => api.events.slice(before).filter((event) => event.event === "http_request");
  // The first look at the job has been answered; the next one waits.
  await eventually(() => requests().length > 0);
  gone.abort();
  await expect(asked).rejects.toThrow();
  await eventually(() => requests().some(({ path_template }) => path_template === "/mcp"));
  expect(performance.now() - started).toBeLessThan(19_000);
  expect(requests().filter(({ status_code }) => status_code >= 500)).toEqual([]);
  expect(api.logLines().filter((line) => line.includes('"http_error"'))).toEqual([]);
});

test("a job is not leased to somebody who has hung up", async () => {
  const gone = new AbortController();
  const before = api.events.length;
  const waits = { name: "lease_job", arguments: { queue_name: "hung-up", wait_seconds: 20 } };
  const asked = fetch(`${server.url}/mcp?toolsets=work`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ ...old, params: waits }),
    signal: gone.signal,
  });
  await eventually(() => api.deps.longPoll.askedFor().some(({ queue }) => queue === "hung-up"));
  gone.abort();
  await expect(asked).rejects.toThrow();
  await eventually(() =>
    api.events.slice(before).some((event) => event.event === "http_request" && event.path_template === "/mcp"),
  );
  await api.post("hung-up", { type: "a", queue: "hung-up" }, { authorization: `Bearer ${token}` });
  const leased = await api.send("POST", "/v1/queues/hung-up/lease", token, { worker_id: "w", wait_seconds: 10 });
  expect(await leased.json()).toMatchObject({ jobs: [{ job: { attempts: 1, worker_id: "w" } }] });
});

test("a job whose lease comes after the tool has given up waiting goes back, with no attempt spent", async () => {
  const late = Promise.withResolvers<void>();
  const slow = await guardedApp(({ database, signal, observe }) => {
    const { longPoll } = createServices(
      { database, signal, observe },
      { idempotency_ttl_seconds: 60, queues_per_tenant_max: 100, stored_bytes_per_tenant_max: 0 },
    );
    const lease: typeof longPoll.lease = async (call, hungUp) => {
      const jobs = await longPoll.lease(call, hungUp);
      if (call.worker_id === "mcp") await late.promise;
      return jobs;
    };
    return { longPoll: { ...longPoll, lease } };
  });
  onTestFinished(() => slow.stop());
  const { token: worker } = await slow.token("admin");
  await slow.post("late", { type: "a", queue: "late", max_attempts: 1 }, { authorization: `Bearer ${worker}` });
  // The deadline of the tool's request, which is 10 s and its wait, is over soon.
  const { setTimeout: real } = globalThis;
  const early = (act: () => void, ms?: number) => real(act, ms === 13_000 ? 1 : ms);
  const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation(early as typeof setTimeout);
  onTestFinished(() => timers.mockRestore());
  const params = { name: "lease_job", arguments: { queue_name: "late", wait_seconds: 3 } };
  const response = await slow.send("POST", "/mcp?toolsets=work", worker, { ...old, params });
  expect(await response.text()).toContain("Whether it was done is not known");
  late.resolve();
  await eventually(async () => {
    const next = await slow.send("POST", "/v1/queues/late/lease", worker, { worker_id: "next" });
    expect(await next.json()).toMatchObject({ jobs: [{ job: { attempts: 1, worker_id: "next" } }] });
  });
});
