import { workerList } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import type { WorkerPresence } from "@atlasqueue/core/internal/worker";
import { afterEach, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

let api: Awaited<ReturnType<typeof testApp>>;
afterEach(() => api.stop());

const presence: WorkerPresence = {
  id: "w-1",
  tenant: "default",
  host: "box",
  pid: 17,
  queues: ["mail"],
  handlers: ["a", "email.send"],
  concurrency: 4,
  active: 2,
  state: "running",
  lease_seconds: 30,
  started_at: "2030-01-31T09:00:00.000Z",
  version: "1.0.0",
  memory_bytes: 120_000_000,
  jobs_per_minute: 340,
};
const create = async (queue: string, type = "a") => {
  const { id } = (await (await api.post(`key-${queue}-${type}`, { type, queue })).json()) as { id: string };
  return id;
};
const reasons = async (id: string) => {
  const { reasons: told } = (await (await api.get(`/v1/jobs/${id}/explain`)).json()) as { reasons: { code: string }[] };
  return told.map(({ code }) => code);
};

test("workers are listed with what they run, another tenant's are not", async () => {
  const signal = memorySignal();
  api = await testApp({ signal });
  expect(await (await api.get("/v1/workers")).json()).toEqual({ items: [] });
  await signal.presence.announce(presence);
  await signal.presence.announce({ ...presence, id: "theirs", tenant: "acme" });
  // One of a version that says nothing more.
  const { started_at: _at, version: _version, memory_bytes: _memory, jobs_per_minute: _jobs, ...older } = presence;
  await signal.presence.announce({ ...older, id: "w-0" });
  const { items } = workerList.parse(await (await api.get("/v1/workers")).json());
  const { tenant: _tenant, lease_seconds: _lease_seconds, ...shown } = presence;
  const none = { started_at: null, version: null, memory_bytes: null, jobs_per_minute: null };
  const [before, now] = items;
  expect(before).toEqual({ ...shown, ...none, id: "w-0", last_seen: before?.last_seen });
  expect(now).toEqual({ ...shown, last_seen: now?.last_seen });
});

test("a queued job that no live worker serves says so", async () => {
  const signal = memorySignal();
  api = await testApp({ signal });
  await signal.presence.announce(presence);
  const [mail, other] = [await create("mail"), await create("other")];
  expect(await reasons(mail)).toEqual(["waiting_for_worker"]);
  expect(await reasons(other)).toEqual(["no_worker", "waiting_for_worker"]);
  expect(await reasons(await create("mail", "unknown"))).toContain("no_worker");
  await signal.presence.announce({ ...presence, state: "draining" });
  expect(await reasons(mail)).toEqual(["no_worker", "waiting_for_worker"]);
});

test("without Redis the workers are unknown: the list is 503, and nothing is said about them elsewhere", async () => {
  const away = () => Promise.reject(new SignalUnavailableError("away"));
  const signal = memorySignal();
  api = await testApp({ signal: { ...signal, presence: { ...signal.presence, list: away } } });
  const answer = await api.get("/v1/workers");
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(await answer.json()).toMatchObject({ type: "/problems/signal-unavailable" });
  expect(await reasons(await create("mail"))).toEqual(["waiting_for_worker"]);
});
