import { explanation, job, leaseAnswer, schedule, submittedBatch, type Job } from "@atlasqueue/contract";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const trace_id = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${trace_id}-b7ad6b7169203331-01`;
const tracestate = "vendor=opaque";
const traced = { traceparent, tracestate };
const untraced = { traceparent: null, tracestate: null };

const api = forFile(() => testApp({ trace_url_template: "https://traces.example/{trace_id}" }));

const read = async (id: string): Promise<Job> => job.parse(await (await api.get(`/v1/jobs/${id}`)).json());

test("a plain header is kept with the job, and is no part of what its key stands for", async () => {
  const made = await api.post("trace-1", { type: "a" }, traced);
  const first = job.parse(await made.json());
  expect([made.status, first]).toMatchObject([201, traced]);
  const again = await api.post("trace-1", { type: "a" }, { traceparent: traceparent.replace("b7ad", "0000") });
  expect([again.status, await again.json()]).toMatchObject([200, { id: first.id, ...traced }]);
  expect(explanation.parse(await (await api.get(`/v1/jobs/${first.id}/explain`)).json())).toMatchObject({
    trace_id,
    trace_url: `https://traces.example/${trace_id}`,
  });
});

test.each([
  ["none", {}, untraced],
  ["only tracestate", { tracestate }, untraced],
  ["a malformed traceparent", { traceparent: "00-xyz", tracestate }, untraced],
  ["a malformed tracestate", { traceparent, tracestate: "no member" }, { traceparent, tracestate: null }],
])("a header that is malformed is ignored: %s", async (what, headers, kept) => {
  const answer = await api.post(`malformed ${what}`, { type: "a" }, headers);
  expect([answer.status, await answer.json()]).toMatchObject([201, kept]);
});

test("the fields are the server's: a body that has them is refused", async () => {
  const answer = await api.post("trace-fields", JSON.stringify({ type: "a", traceparent }));
  expect(answer.status).toBe(422);
});

test("a batch, OpenQueue's jobs and a schedule's carry the context of their request", async () => {
  const post = (path: string, body: object) => api.send("POST", path, undefined, body, traced);
  const jobs = ["one", "two"].map((key) => ({ type: "a", idempotency_key: `trace-batch-${key}` }));
  const batch = submittedBatch.parse(await (await post("/v1/jobs/batch", { jobs })).json());
  const { job_id } = (await (await post("/jobs", { payload: {} })).json()) as { job_id: string };
  const { job_ids } = (await (await post("/jobs/batch", { jobs: [{ payload: {} }] })).json()) as { job_ids: string[] };
  await post("/v1/schedules", { name: "traced", cron: "0 0 1 1 *", job: { type: "a" } });
  const run = job.parse(await (await post("/v1/schedules/traced/run", {})).json());
  for (const id of [...batch.jobs.map((one) => one.id), job_id, ...job_ids, run.id])
    expect(await read(id)).toMatchObject(traced);
  const shown = schedule.parse(await (await api.get("/v1/schedules/traced")).json());
  expect(shown).not.toHaveProperty("traceparent");
});

test("a lease carries it to the worker, whatever its language", async () => {
  await api.post("trace-lease", { type: "a", queue: "leased" }, traced);
  const answer = await api.send("POST", "/v1/queues/leased/lease", undefined, { worker_id: "w" });
  expect(leaseAnswer.parse(await answer.json()).jobs).toMatchObject([{ job: traced }]);
});
