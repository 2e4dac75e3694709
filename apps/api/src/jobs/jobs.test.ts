import { attemptList, explanation, job, jobPage, problem, type Job } from "@atlasqueue/contract";
import { complete } from "@atlasqueue/core/internal";
import { claim, fail } from "@atlasqueue/core/internal/worker";
import { eventually, forFile, ownSignal } from "@atlasqueue/harness";
import { expect, test, afterAll } from "vitest";
import { pagesOf } from "../../test/pages-of.ts";
import { testApp } from "../../test/test-app.ts";

const signal = ownSignal();
afterAll(() => signal.close());
const api = forFile(() => testApp({ signal }));

let made = 0;
const submit = async (fields: object = {}): Promise<Job> =>
  job.parse(await (await api.post(`jobs-${(made += 1)}`, JSON.stringify({ type: "a", ...fields }))).json());
const act = (path: string, init: RequestInit = {}) =>
  api.app.request(`http://localhost/v1/jobs/${path}`, { method: "POST", ...init });
const read = async (id: string): Promise<Job> => job.parse(await (await api.get(`/v1/jobs/${id}`)).json());
const lease = async (id: string, queue = "default") => {
  const claimer = { tenant: "default", queues: [queue], worker_id: "w1", lease_seconds: 30 };
  const [held] = await claim(api.deps, [id], claimer);
  if (!held) throw new Error("not claimed");
  return held;
};
const typeOf = async (response: Response) => problem.parse(await response.json()).type;

test("the list shows the newest first, page by page, and each job once", async () => {
  const jobs: Job[] = [];
  for (let at = 0; at < 5; at += 1) jobs.push(await submit({ queue: "listed", type: at % 2 ? "odd" : "even" }));
  const pages = await pagesOf(async (more) =>
    jobPage.parse(await (await api.get(`/v1/jobs?queue=listed&limit=2${more}`)).json()),
  );
  for (const page of pages) expect(page.length).toBeLessThanOrEqual(2);
  expect(pages.flat().map(({ id }) => id)).toEqual(jobs.map(({ id }) => id).toReversed());
  const odd = jobPage.parse(await (await api.get("/v1/jobs?queue=listed&type=odd")).json());
  expect(odd.items.map(({ id }) => id)).toEqual([jobs[3]?.id, jobs[1]?.id]);
});

test("a cursor belongs to its list and filter: on another one it is refused", async () => {
  for (let at = 0; at < 3; at += 1) await submit({ queue: "cursors" });
  const { next_cursor } = jobPage.parse(await (await api.get("/v1/jobs?queue=cursors&limit=1")).json());
  const statusOf = async (path: string) => (await api.get(`${path}&cursor=${next_cursor}`)).status;
  expect(await statusOf("/v1/jobs?queue=cursors&limit=2")).toBe(200);
  for (const other of [
    "/v1/jobs?limit=1",
    "/v1/jobs?queue=cursors&type=a",
    "/v1/dlq?queue=cursors",
    "/v1/schedules?limit=1",
  ])
    expect(await statusOf(other)).toBe(400);
});

test.each(["scheduled", "queued", "running", "failed", "succeeded", "dead", "cancelled"] as const)(
  "the list finds %s jobs by their status, and no others",
  async (status) => {
    const queue = `by-status-${status}`;
    await submit({ queue });
    const wanted = await submit({ queue, ...(status === "scheduled" && { delay_seconds: 60 }) });
    if (status === "cancelled") await act(`${wanted.id}/cancel`);
    else if (status !== "scheduled" && status !== "queued") {
      const held = await lease(wanted.id, queue);
      if (status === "succeeded") await complete(api.deps, [{ lease: held, result: null }]);
      if (status === "failed")
        await fail(api.deps, [{ lease: held, error: "E: x", verdict: { kind: "retry", delay_ms: 60_000 } }]);
      if (status === "dead")
        await fail(api.deps, [{ lease: held, error: "E: x", verdict: { kind: "dead", reason: "not_retryable" } }]);
    }
    const page = jobPage.parse(await (await api.get(`/v1/jobs?queue=${queue}&status=${status}`)).json());
    const ids = page.items.map(({ id }) => id);
    expect(ids).toContain(wanted.id);
    expect(page.items.every((one) => one.status === status)).toBe(true);
    expect(ids.length).toBe(status === "queued" ? 2 : 1);
  },
);

test("a wait ends when the job finishes, even without a notice", async () => {
  const { id } = await submit();
  const waiting = api.get(`/v1/jobs/${id}?wait_seconds=30`);
  await complete(api.deps, [{ lease: await lease(id), result: 1 }]);
  expect(job.parse(await (await waiting).json()).status).toBe("succeeded");
});

test("a wait for a job that has finished, or does not exist, ends at once", async () => {
  const { id } = await submit();
  await act(`${id}/cancel`);
  expect(job.parse(await (await api.get(`/v1/jobs/${id}?wait_seconds=30`)).json()).status).toBe("cancelled");
  const unknown = await api.get("/v1/jobs/01920000-0000-7000-8000-000000000000?wait_seconds=30");
  expect(unknown.status).toBe(404);
});

test("a queued job is cancelled once; no one can claim it, and its key still names it", async () => {
  const created = await submit({ queue: "cancels" });
  const response = await act(`${created.id}/cancel`, { headers: { "content-type": "text/plain" } });
  expect(response.status).toBe(200);
  expect(job.parse(await response.json())).toMatchObject({
    status: "cancelled",
    attempts: 0,
    finished_at: expect.any(String),
  });
  await expect(lease(created.id, "cancels")).rejects.toThrow("not claimed");
  const again = await act(`${created.id}/cancel`);
  expect([again.status, await typeOf(again)]).toEqual([409, "/problems/job-finished"]);
});

test("a running job is cancelled: its lease is lost, and the attempt is history", async () => {
  const { id } = await submit();
  const held = await lease(id);
  const heard: string[] = [];
  const stop = signal.notices.listen("cancelled", (ids) => void heard.push(...ids));
  expect((await act(`${id}/cancel`)).status).toBe(200);
  stop();
  expect(heard).toEqual([id]);
  expect(await complete(api.deps, [{ lease: held, result: null }])).toEqual([{ kind: "lease_lost" }]);
  const { items } = attemptList.parse(await (await api.get(`/v1/jobs/${id}/attempts`)).json());
  expect(items).toMatchObject([{ attempt: 1, worker_id: "w1", outcome: "cancelled", error: null }]);
});

test("a dead job is retried as if it were new, keeps its history, and leaves the dead letters", async () => {
  const { id } = await submit({ queue: "retried", max_attempts: 1 });
  const verdict = { kind: "dead", reason: "attempts_exhausted" } as const;
  await fail(api.deps, [{ lease: await lease(id, "retried"), error: "E: no", verdict }]);
  await signal.deadLetters.add([id]);
  await signal.take([{ tenant: "default", queue: "retried" }], 10);
  const response = await act(`${id}/retry`);
  expect(response.status).toBe(200);
  const fresh = {
    status: "queued",
    attempts: 0,
    last_error: null,
    dead_reason: null,
    finished_at: null,
    worker_id: null,
  };
  expect(job.parse(await response.json())).toMatchObject(fresh);
  expect((await signal.deadLetters.look()).length).toBe(0);
  expect((await signal.take([{ tenant: "default", queue: "retried" }], 10)).ids).toEqual([id]);
  await complete(api.deps, [{ lease: await lease(id, "retried"), result: null }]);
  const { items } = attemptList.parse(await (await api.get(`/v1/jobs/${id}/attempts`)).json());
  expect(items).toMatchObject([
    { attempt: 1, outcome: "failed", error: "E: no" },
    { attempt: 1, outcome: "succeeded", error: null },
  ]);
});

test.each(["queued", "running", "succeeded"])("a %s job cannot be retried: 409", async (status) => {
  const { id } = await submit();
  if (status !== "queued") {
    const held = await lease(id);
    if (status === "succeeded") await complete(api.deps, [{ lease: held, result: null }]);
  }
  const response = await act(`${id}/retry`);
  expect([response.status, await typeOf(response)]).toEqual([409, "/problems/not-retryable"]);
  expect((await read(id)).status).toBe(status);
});

test("a job explains why it is not running", async () => {
  const first = await submit({ queue: "why" });
  const second = await submit({ queue: "why" });
  const later = await submit({ queue: "why", delay_seconds: 60 });
  const why = async (id: string) =>
    explanation.parse(await (await api.get(`/v1/jobs/${id}/explain`)).json()).reasons.map(({ code }) => code);
  expect(await why(first.id)).toEqual(["no_worker", "waiting_for_worker"]);
  expect(await why(second.id)).toEqual(["no_worker", "waiting_in_queue"]);
  expect(await why(later.id)).toEqual(["scheduled"]);
  const held = await lease(first.id, "why");
  expect(await why(first.id)).toEqual(["running"]);
  await fail(api.deps, [{ lease: held, error: "E: x", verdict: { kind: "retry", delay_ms: 60_000 } }]);
  expect(await why(first.id)).toEqual(["waiting_for_retry"]);
  await act(`${first.id}/cancel`);
  expect(await why(first.id)).toEqual(["cancelled"]);
});

test("a blocked job names the one in its group it waits for, and goes when that is cancelled", async () => {
  const first = await submit({ queue: "grouped", group: "order-17" });
  const second = await submit({ queue: "grouped", group: "order-17" });
  expect([first.status, second.status, second.group]).toEqual(["queued", "blocked", "order-17"]);
  const { reasons } = explanation.parse(await (await api.get(`/v1/jobs/${second.id}/explain`)).json());
  expect(reasons).toEqual([{ code: "blocked", detail: `The job ${first.id} of the same group must finish first.` }]);
  const page = jobPage.parse(await (await api.get("/v1/jobs?group=order-17&status=blocked")).json());
  expect(page.items.map(({ id }) => id)).toEqual([second.id]);
  await act(`${first.id}/cancel`);
  await eventually(async () => expect((await read(second.id)).status).toBe("queued"));
  await eventually(async () =>
    expect((await signal.take([{ tenant: "default", queue: "grouped" }], 10)).ids).toContain(second.id),
  );
});
