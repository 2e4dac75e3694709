import { job, type Job } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { defaultKeys, defaultTenant, SignalUnavailableError } from "@atlasqueue/core/internal";
import { forFile, ownSignal } from "@atlasqueue/harness";
import { expect, test, afterAll } from "vitest";
import { testApp } from "../../test/test-app.ts";

const signal = ownSignal();
afterAll(() => signal.close());
const api = forFile(() => testApp({ signal }));

const jobOf = async (response: Response): Promise<Job> => job.parse(await response.json());
const queueOf = (queue: string) => ({ tenant: defaultTenant, queue });

test("a job is created and signalled, and can be read at its Location", async () => {
  const response = await api.post("first", { type: "mail", payload: { to: "a@b.c" }, queue: "mails", priority: 3 });
  expect(response.status).toBe(201);
  const created = await jobOf(response);
  expect(created).toMatchObject({ type: "mail", status: "queued", queue: "mails", priority: 3, attempts: 0 });
  expect(response.headers.get("location")).toBe(`/v1/jobs/${created.id}`);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect((await signal.take([queueOf("mails")], 10)).ids).toEqual([created.id]);

  const read = await api.get(`/v1/jobs/${created.id}`);
  expect(read.status).toBe(200);
  expect(await jobOf(read)).toEqual(created);
  expect(await jobOf(await api.get(`/v1/jobs/${created.id.toUpperCase()}`))).toEqual(created);
});

test("omitted fields get their defaults", async () => {
  const created = await jobOf(await api.post("defaults", { type: "a" }));
  expect(created).toMatchObject({ queue: "default", priority: 0, max_attempts: 5, payload: {}, timeout_seconds: null });
});

test("a job for later is scheduled, not signalled, whatever offset its time has", async () => {
  const later = await jobOf(
    await api.post("later", { type: "a", queue: "later", run_at: "2090-01-01T00:00:00.5-03:00" }),
  );
  expect(later).toMatchObject({ status: "scheduled", run_at: "2090-01-01T03:00:00.500Z" });
  const delayed = await jobOf(await api.post("delayed", { type: "a", queue: "later", delay_seconds: 60 }));
  expect(Date.parse(delayed.run_at) - Date.parse(delayed.created_at)).toBe(60_000);
  expect((await signal.take([queueOf("later")], 10)).ids).toEqual([]);
});

test("the same key and request again: 200 and the same job, in any order of the JSON's keys", async () => {
  const first = await api.post("again", '{"type":"a","payload":{"x":1,"y":{"b":2,"a":[1,2]}}}');
  expect(first.headers.get("idempotency-replayed")).toBeNull();
  for (const key of ["again", '"again"', "  again "]) {
    const replay = await api.post(key, '{"payload":{"y":{"a":[1,2],"b":2.0},"x":1},"type":"a","queue":"default"}');
    expect(replay.status).toBe(200);
    expect(replay.headers.get("idempotency-replayed")).toBe("true");
    expect(replay.headers.get("location")).toBeNull();
    expect((await jobOf(replay)).id).toBe((await jobOf(first.clone())).id);
  }
});

test("a job is created even when its signal fails", async () => {
  const broken = {
    ...memorySignal(),
    push: () => Promise.reject(new SignalUnavailableError(`no ${defaultKeys.jobs} today`)),
  };
  const other = await testApp({ signal: broken });
  expect((await other.post("unsignalled", { type: "a" })).status).toBe(201);
  expect(other.events).toContainEqual(expect.objectContaining({ event: "signal_failed", during: "push" }));
  await other.stop();
});
