import {
  explanation,
  flowActAnswer,
  flowGraph,
  flowPage,
  type FlowGraph,
  type SubmitBatchInput,
} from "@atlasqueue/contract";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);

let keys = 0;
/** A flow's id and those of its jobs; of `then`, if asked for, the last. */
async function submit(body: SubmitBatchInput): Promise<{ id: string; ids: string[] }> {
  const answer = await api.send("POST", "/v1/jobs/batch", undefined, body, {
    "idempotency-key": `flow ${(keys += 1)}`,
  });
  const { flow_id, jobs, then } = (await answer.json()) as {
    flow_id: string;
    jobs: { id: string }[];
    then?: { id: string };
  };
  return { id: flow_id, ids: [...jobs, ...(then ? [then] : [])].map(({ id }) => id) };
}
const get = async (path: string) => (await api.get(path)).json();
const flowOf = async (id: string) => flowGraph.parse(await get(`/v1/flows/${id}`));
const statuses = ({ items }: FlowGraph) => items.map(({ status }) => status).join(" ");
const act = async (id: string, verb: "cancel" | "retry") =>
  flowActAnswer.parse(await (await api.send("POST", `/v1/flows/${id}/${verb}`)).json());

/** Runs the job that is ready in a queue. */
async function run(queue: string, how: "ack" | "nack"): Promise<string> {
  const leased = await api.send("POST", `/v1/queues/${queue}/lease`, undefined, { worker_id: "w", wait_seconds: 10 });
  const [held] = ((await leased.json()) as { jobs: { job: { id: string }; lease_token: string }[] }).jobs;
  const { job, lease_token } = held ?? { job: { id: "none" }, lease_token: "" };
  const rest = how === "ack" ? {} : { error: "no such customer", retry: false };
  const settled = await api.send("POST", `/v1/jobs/${job.id}/${how}`, undefined, { lease_token, ...rest });
  expect(settled.status).toBe(200);
  return job.id;
}

/** Two steps, one after the other, and one more at the end of all. */
const pipeline = (queue: string): SubmitBatchInput => ({
  jobs: [
    { ref: "load", type: "sales.load", queue },
    { ref: "sum", type: "sales.sum", queue, depends_on: ["load"] },
  ],
  then: { type: "report.send", queue },
});

test("a flow is read with its jobs, which waits for which, its state and its critical path", async () => {
  const { id, ids } = await submit(pipeline("read"));
  const [load = "", sum = "", last = ""] = ids;
  const flow = await flowOf(id);
  expect(flow).toMatchObject({ id, state: "running", jobs: 3, finished_at: null, next_cursor: null });
  expect(flow.counts).toMatchObject({ queued: 1, blocked: 2, succeeded: 0 });
  expect(flow.items.map((one) => [one.id, one.ref, one.depends_on, one.on_parent_failure])).toEqual([
    [load, "load", [], "cancel"],
    [sum, "sum", [load], "cancel"],
    [last, null, [load, sum], "run"],
  ]);
  expect(flow.critical_path).toEqual([load, sum, last]);
  for (const expected of ids) expect(await run("read", "ack")).toBe(expected);
  await eventually(async () => expect(await flowOf(id)).toMatchObject({ state: "succeeded", critical_path: ids }));
  expect((await flowOf(id)).finished_at).not.toBeNull();
});

test("what failed is retried with all that was cancelled for it, and a whole flow is cancelled", async () => {
  const { id } = await submit({ ...pipeline("retried"), then: undefined });
  await run("retried", "nack");
  await eventually(async () => expect(statuses(await flowOf(id))).toBe("dead cancelled"));
  expect(await flowOf(id)).toMatchObject({ state: "failed" });
  expect((await flowOf(id)).items[1]?.last_error).toMatch(/^ParentDead: the job .* it depends on is dead$/);
  expect(await act(id, "retry")).toMatchObject({ changed: 1, flow: { id } });
  await eventually(async () => expect(statuses(await flowOf(id))).toBe("queued blocked"));
  expect((await act(id, "cancel")).changed).toBeGreaterThanOrEqual(1);
  await eventually(async () => expect(await flowOf(id)).toMatchObject({ state: "cancelled" }));
  expect(statuses(await flowOf(id))).toBe("cancelled cancelled");
  expect((await act(id, "cancel")).changed).toBe(0);
  expect((await act(id, "retry")).changed).toBeGreaterThanOrEqual(1);
  await run("retried", "ack");
  await run("retried", "ack");
  await eventually(async () => expect(await flowOf(id)).toMatchObject({ state: "succeeded" }));
});

const reasonsOf = async (job = "") =>
  explanation.parse(await get(`/v1/jobs/${job}/explain`)).reasons.map(({ code }) => code);

test("a job says which parents it waits for, and then that one failed", async () => {
  const { id, ids } = await submit({ ...pipeline("explained"), then: undefined });
  expect(await reasonsOf(ids[1])).toEqual(["waiting_for_parents"]);
  await run("explained", "nack");
  await eventually(async () => expect(statuses(await flowOf(id))).toBe("dead cancelled"));
  expect(await reasonsOf(ids[1])).toEqual(["parent_failed"]);
});

test("a job that others wait for is not deleted before they are cancelled", async () => {
  const [load, sum] = pipeline("awaited").jobs;
  const { ids } = await submit({ jobs: [load, { ...sum, on_parent_failure: "wait" }] as SubmitBatchInput["jobs"] });
  await run("awaited", "nack");
  const remove = (at: number) => api.send("DELETE", `/v1/jobs/${ids[at]}`);
  // What follows the failure, and then the cancellation, may have them locked for a moment.
  await eventually(async () => {
    const refused = await remove(0);
    expect([refused.status, await refused.json()]).toMatchObject([409, { title: "Other jobs depend on this job" }]);
  });
  await api.send("POST", `/v1/jobs/${ids[1]}/cancel`);
  for (const at of [1, 0]) await eventually(async () => expect((await remove(at)).status).toBe(204));
});

test("one that waits for a job that failed, until it is replayed, is held", async () => {
  const [load, sum] = pipeline("held").jobs;
  const { id } = await submit({ jobs: [load, { ...sum, on_parent_failure: "wait" }] as SubmitBatchInput["jobs"] });
  await run("held", "nack");
  await eventually(async () => expect(await flowOf(id)).toMatchObject({ state: "held", finished_at: null }));
  await act(id, "retry");
  await run("held", "ack");
  await run("held", "ack");
});

test("flows are listed newest first, by state, a page at a time", async () => {
  const made = [await submit(pipeline("listed")), await submit(pipeline("listed")), await submit(pipeline("listed"))];
  const [oldest, , newest] = made.map(({ id }) => id);
  await act(newest ?? "", "cancel");
  const first = flowPage.parse(await get("/v1/flows?limit=2"));
  expect(first.items.map(({ id }) => id)).toEqual([newest, made[1]?.id]);
  const second = flowPage.parse(await get(`/v1/flows?limit=1&cursor=${first.next_cursor}`));
  expect(second.items.map(({ id }) => id)).toEqual([oldest]);
  const cancelled = async () => flowPage.parse(await get("/v1/flows?state=cancelled&limit=1")).items[0]?.id;
  await eventually(async () => expect(await cancelled()).toBe(newest));
});

test("a flow of more than a page is read in pages, and has no critical path", async () => {
  const jobs = Array.from({ length: 1_000 }, (_, at) => ({ ref: `j${at}`, type: "a", queue: "large" }));
  const { id, ids } = await submit({ jobs, then: { type: "b", queue: "large" } });
  expect((await flowOf(id)).items.map((one) => one.id)).toEqual(ids);
  await api.deps.database.sql`
    INSERT INTO atlasqueue.flow_jobs (tenant, job_id, flow_id, place, on_parent_failure, parents)
    SELECT 'default', (SELECT id FROM atlasqueue.jobs WHERE queue = 'listed' LIMIT 1), ${id}, 5000, 'cancel', '[]' ON CONFLICT (job_id) DO UPDATE
    SET flow_id = excluded.flow_id, place = excluded.place`;
  const first = await flowOf(id);
  expect([first.items.length, first.critical_path, first.jobs]).toEqual([1_001, null, 1_002]);
  const rest = flowGraph.parse(await get(`/v1/flows/${id}?cursor=${first.next_cursor}`));
  expect([rest.items.length, rest.next_cursor, rest.critical_path]).toEqual([1, null, null]);
});
