import { bulkJobsAnswer, heldGroupPage, job, jobPage, type Job } from "@atlasqueue/contract";
import { forFile } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(() => testApp({ payload_bytes_max: 1_000 }));
beforeEach(
  () =>
    api.deps.database
      .sql`TRUNCATE atlasqueue.jobs, atlasqueue.job_attempts, atlasqueue.idempotency_keys, atlasqueue.queue_counts, atlasqueue.queue_changes, atlasqueue.job_groups`,
);

let made = 0;
const submit = async (body: object = {}): Promise<Job> => {
  const response = await api.post(`act-${(made += 1)}`, JSON.stringify({ type: "a", ...body }));
  return job.parse(await response.json());
};
const cancelled = async (body: object = {}) => {
  const { id } = await submit(body);
  await api.send("POST", `/v1/jobs/${id}/cancel`);
  return id;
};
const bulk = async (body: object) => {
  const response = await api.send("POST", "/v1/jobs/bulk", undefined, body);
  expect(response.status, await response.clone().text()).toBe(200);
  return bulkJobsAnswer.parse(await response.json());
};
const counts = async (queue: string) => {
  const { items } = (await (await api.get("/v1/queues")).json()) as { items: { queue: string; counts: object }[] };
  return items.find((one) => one.queue === queue)?.counts;
};

test("a finished job is deleted with its attempts, is counted no more, and its key is free again", async () => {
  const id = await cancelled({ queue: "mail" });
  expect((await api.send("DELETE", `/v1/jobs/${id}`)).status).toBe(204);
  expect((await api.get(`/v1/jobs/${id}`)).status).toBe(404);
  expect((await api.send("DELETE", `/v1/jobs/${id}`)).status).toBe(404);
  expect(await counts("mail")).toBeUndefined();
  expect((await api.post(`act-${made}`, { type: "other" })).status).toBe(201);
});

test("a job that is not finished is not deleted", async () => {
  const { id } = await submit();
  const response = await api.send("DELETE", `/v1/jobs/${id}`);
  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({ type: "/problems/job-not-finished" });
  expect((await api.get(`/v1/jobs/${id}`)).status).toBe(200);
});

test("a stopped job runs again with its payload patched, and one that is not is left alone", async () => {
  const id = await cancelled({ payload: { to: "a", cc: "b", n: { x: 1, y: 2 } } });
  const patch = { to: "c", cc: null, n: { y: null } };
  const response = await api.send("POST", `/v1/jobs/${id}/edit`, undefined, { patch });
  expect(response.status).toBe(200);
  expect(job.parse(await response.json())).toMatchObject({ status: "queued", payload: { to: "c", n: { x: 1 } } });
  const stored = job.parse(await (await api.get(`/v1/jobs/${id}`)).json());
  expect(stored.payload).toEqual({ to: "c", n: { x: 1 } });
  expect((await api.send("POST", `/v1/jobs/${id}/edit`, undefined, { patch: { to: "d" } })).status).toBe(409);
  expect(job.parse(await (await api.get(`/v1/jobs/${id}`)).json()).payload).toEqual(stored.payload);
});

test("a stopped job runs again with the payload it is given, nulls and all; patch or payload, not both", async () => {
  const id = await cancelled({ payload: { to: "a", cc: "b" } });
  const edit = (body: object) => api.send("POST", `/v1/jobs/${id}/edit`, undefined, body);
  for (const [body, has] of [
    [{}, "be empty"],
    [{ patch: {}, payload: {} }, "have both"],
  ] as const) {
    const refused = await edit(body);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain(`must not ${has}: give either patch or payload`);
  }
  const payload = { to: null, n: [null], deep: { x: null } };
  expect(job.parse(await (await edit({ payload })).json())).toMatchObject({ status: "queued", payload });
  expect(job.parse(await (await api.get(`/v1/jobs/${id}`)).json()).payload).toEqual(payload);
});

test("a payload that would be too large is refused, and the job stays as it was", async () => {
  const id = await cancelled({ payload: { a: "x".repeat(900) } });
  const response = await api.send("POST", `/v1/jobs/${id}/edit`, undefined, { patch: { b: "y".repeat(500) } });
  expect(response.status).toBe(413);
  const whole = await api.send("POST", `/v1/jobs/${id}/edit`, undefined, { payload: { b: "y".repeat(1_500) } });
  expect(whole.status).toBe(413);
  const left = job.parse(await (await api.get(`/v1/jobs/${id}`)).json());
  expect(left.status).toBe("cancelled");
  expect(left.payload).not.toHaveProperty("b");
});

test("all that match are counted first, then cancelled, retried and deleted; others stay", async () => {
  for (let n = 0; n < 12; n += 1) await submit({ queue: "mail" });
  await submit({ queue: "sms" });
  const filter = { queue: "mail" };
  expect(await bulk({ action: "cancel", filter, dry_run: true })).toMatchObject({
    matched: 12,
    changed: 0,
    next_cursor: null,
  });
  expect(await bulk({ action: "delete", filter })).toEqual({ matched: 0, changed: 0, next_cursor: null });
  expect(await bulk({ action: "cancel", filter })).toEqual({ matched: 12, changed: 12, next_cursor: null });
  expect(await counts("mail")).toMatchObject({ cancelled: 12, queued: 0 });
  expect(await bulk({ action: "retry", filter: { ...filter, status: "cancelled" } })).toMatchObject({ changed: 12 });
  expect(await counts("mail")).toMatchObject({ cancelled: 0, queued: 12 });
  await bulk({ action: "cancel", filter });
  expect(await bulk({ action: "delete", all: true })).toMatchObject({ matched: 12, changed: 12 });
  expect(await counts("sms")).toMatchObject({ queued: 1 });
  const { items } = jobPage.parse(await (await api.get("/v1/jobs")).json());
  expect(items.map(({ queue }) => queue)).toEqual(["sms"]);
});

test("an act after a dry run leaves what was made since, if it begins at its first_cursor", async () => {
  const filter = { queue: "since", status: "queued" };
  for (let n = 0; n < 3; n += 1) await submit({ queue: "since" });
  const { first_cursor, ...counted } = await bulk({ action: "cancel", filter, dry_run: true });
  expect(counted).toEqual({ matched: 3, changed: 0, next_cursor: null });
  const since = await submit({ queue: "since" });
  expect(await bulk({ action: "cancel", filter, cursor: first_cursor })).toMatchObject({ matched: 3, changed: 3 });
  const { items } = jobPage.parse(await (await api.get("/v1/jobs?queue=since&status=queued")).json());
  expect(items.map(({ id }) => id)).toEqual([since.id]);
  const another = { action: "retry", filter, cursor: first_cursor };
  expect((await api.send("POST", "/v1/jobs/bulk", undefined, another)).status).toBe(400);
});

test("a purge takes what waits and what is finished, and leaves what runs", async () => {
  const filter = { queue: "full" };
  const ids: string[] = [];
  for (const more of [{}, {}, { delay_seconds: 60 }, { group: "g" }, { group: "g" }])
    ids.push((await submit({ queue: "full", ...more })).id);
  const leased = await api.send("POST", "/v1/queues/full/lease", undefined, { worker_id: "w-9" });
  const { jobs } = (await leased.json()) as { jobs: { job: { id: string } }[] };
  const running = jobs[0]?.job.id;
  expect(await bulk({ action: "purge", filter, dry_run: true })).toMatchObject({ matched: 4, changed: 0 });
  expect(await bulk({ action: "purge", filter: { worker: "w-9" } })).toMatchObject({ matched: 0, changed: 0 });
  expect(await bulk({ action: "purge", filter })).toEqual({ matched: 4, changed: 4, next_cursor: null });
  const { items } = jobPage.parse(await (await api.get("/v1/jobs?queue=full")).json());
  expect(items.map(({ id, status }) => [id, status])).toEqual([[running, "running"]]);
  expect(await bulk({ action: "cancel", filter: { worker: "w-9" } })).toMatchObject({ matched: 1, changed: 1 });
});

test("all that a search finds, and what a key names, is changed, and nothing else", async () => {
  const needle = await submit({ queue: "hay", payload: { note: "the Needle" } });
  const other = await submit({ queue: "hay" });
  expect(await bulk({ action: "cancel", filter: { queue: "hay", search: "needle" } })).toEqual({
    matched: 1,
    changed: 1,
    next_cursor: null,
  });
  const statusOf = async (id: string) => job.parse(await (await api.get(`/v1/jobs/${id}`)).json()).status;
  expect([await statusOf(needle.id), await statusOf(other.id)]).toEqual(["cancelled", "queued"]);
  const key = `act-${made}`;
  expect(await bulk({ action: "cancel", filter: { key, queue: "elsewhere" } })).toMatchObject({ matched: 0 });
  expect(await bulk({ action: "cancel", filter: { key } })).toMatchObject({ matched: 1, changed: 1 });
  expect(await statusOf(other.id)).toBe("cancelled");
});

test("by ids, those to which it can be done; a cursor belongs to its own call", async () => {
  const [a, b] = [await submit(), await cancelled()];
  const ids = [a.id, b, "00000000-0000-4000-8000-000000000000"];
  expect(await bulk({ action: "cancel", ids })).toEqual({ matched: 1, changed: 1, next_cursor: null });
  const tampered = { action: "cancel", filter: { queue: "mail" }, cursor: "tampered" };
  expect((await api.send("POST", "/v1/jobs/bulk", undefined, tampered)).status).toBe(400);
});

test("a held group says by which job, and how many wait", async () => {
  const first = await submit({ queue: "mail", group: "a" });
  for (let n = 0; n < 3; n += 1) await submit({ queue: "mail", group: "a" });
  await submit({ queue: "mail", group: "b" });
  const page = async (query = "") =>
    heldGroupPage.parse(await (await api.get(`/v1/queues/mail/groups${query}`)).json());
  const { items, next_cursor } = await page("?limit=1");
  expect(items).toMatchObject([
    { group: "a", held_by: { id: first.id, status: "queued" }, blocked: 3, blocked_complete: true },
  ]);
  const rest = await page(`?limit=1&cursor=${next_cursor}`);
  expect(rest).toMatchObject({ items: [{ group: "b", blocked: 0 }], next_cursor: null });
});

test("a schedule's job is submitted now, beside its slots", async () => {
  const definition = {
    name: "nightly",
    cron: "0 0 1 1 *",
    job: { type: "report", payload: { n: 1 }, queue: "reports" },
  };
  expect((await api.send("POST", "/v1/schedules", undefined, definition)).status).toBe(201);
  const before = (await (await api.get("/v1/schedules/nightly")).json()) as object;
  for (let times = 0; times < 2; times += 1) {
    const response = await api.send("POST", "/v1/schedules/nightly/run");
    expect(response.status).toBe(201);
    expect(job.parse(await response.json())).toMatchObject({ type: "report", payload: { n: 1 }, queue: "reports" });
  }
  expect(await (await api.get("/v1/schedules/nightly")).json()).toEqual(before);
  expect(await counts("reports")).toMatchObject({ queued: 2 });
});

test("a search says how far it looked", async () => {
  const { id } = await submit({ payload: { to: "Ada" } });
  await submit();
  const answer = jobPage.parse(await (await api.get("/v1/jobs?search=ada")).json());
  expect(answer).toMatchObject({ items: [{ id }], next_cursor: null, searched: { jobs: 2, back_to: null } });
  expect(jobPage.parse(await (await api.get("/v1/jobs")).json()).searched).toBeUndefined();
  expect(jobPage.parse(await (await api.get(`/v1/jobs?key=act-${made}`)).json()).items).toHaveLength(1);
});
