import { submittedBatch, type Problem, type SubmitSingleInput, type SubmittedBatch } from "@atlasqueue/contract";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);

let sent = 0;
const newKey = () => `flow-${(sent += 1)}`;
const send = (body: object, key: string | null = newKey()) =>
  api.send("POST", "/v1/jobs/batch", undefined, body, key === null ? {} : { "idempotency-key": key });
const store = async (body: object, key?: string): Promise<SubmittedBatch> => {
  const answer = await send(body, key);
  const text = await answer.text();
  expect(answer.status, text).toBe(201);
  return submittedBatch.parse(JSON.parse(text));
};
const problemOf = async (answer: Response) => {
  const { type, errors, status } = (await answer.json()) as Problem;
  return { status, type, errors: errors?.map(({ pointer, message }) => `${pointer} ${message}`) };
};
const get = async (id: string) => (await (await api.send("GET", `/v1/jobs/${id}`)).json()) as Record<string, unknown>;
const flow = {
  jobs: [
    { ref: "a", type: "x" },
    { ref: "b", type: "x" },
    { ref: "sum", type: "y", depends_on: ["a", "b"] },
  ],
  then: { type: "done" },
};

test("a flow is stored whole, and its jobs say which it is", async () => {
  const answer = await store(flow);
  expect(answer.jobs.map(({ status, created }) => [status, created])).toEqual([
    ["queued", true],
    ["queued", true],
    ["blocked", true],
  ]);
  expect(answer.then).toMatchObject({ status: "blocked", created: true });
  for (const { id } of [...answer.jobs, ...(answer.then ? [answer.then] : [])])
    expect(await get(id)).toMatchObject({ flow_id: answer.flow_id });
});

test("a batch in which no one waits is no flow, whatever refs it has", async () => {
  const answer = await store({
    jobs: [
      { ref: "a", type: "x" },
      { type: "x", depends_on: [] },
    ],
  });
  expect(answer).toMatchObject({ flow_id: null });
  expect(answer).not.toHaveProperty("then");
  expect(await get(answer.jobs[0]?.id ?? "")).toMatchObject({ flow_id: null });
});

test("sent again under its key a flow is answered with the same ids", async () => {
  const key = newKey();
  const first = await store(flow, key);
  const again = await send(flow, key);
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
  const same = ({ id, status }: { id: string; status: string }) => ({ id, status, created: false });
  expect(await again.json()).toEqual({
    jobs: first.jobs.map(same),
    flow_id: first.flow_id,
    then: first.then && same(first.then),
  });
  // What is the default, spelled out, is the same request; another policy is another one.
  const spelled = (on_parent_failure: string) => ({
    ...flow,
    jobs: flow.jobs.map((one) => ("depends_on" in one ? { ...one, on_parent_failure } : one)),
  });
  expect((await send(spelled("cancel"), key)).status).toBe(201);
  const other = await problemOf(await send(spelled("run"), key));
  expect(other).toMatchObject({ status: 422, type: "/problems/idempotency-mismatch" });
});

test("a job may wait for jobs that exist, in any case of their ids, alone or in a batch", async () => {
  const { jobs } = await store({ jobs: [{ type: "x" }] });
  const id = jobs[0]?.id ?? "";
  const { flow_id } = await store({ jobs: [{ type: "y", depends_on: [id.toUpperCase()] }] });
  expect(flow_id).not.toBeNull();
  const single: SubmitSingleInput = { type: "y", depends_on: [id], on_parent_failure: "wait" };
  const [first, again] = [await api.post("single", single), await api.post("single", single)];
  expect([first.status, again.status, again.headers.get("idempotency-replayed")]).toEqual([201, 200, "true"]);
  const job = (await first.json()) as Record<string, unknown>;
  expect(job).toMatchObject({ status: "blocked", flow_id: expect.any(String) });
  expect(await again.json()).toEqual(job);
  const other = await problemOf(await api.post("single", { ...single, on_parent_failure: "run" }));
  expect(other).toMatchObject({ status: 422, type: "/problems/idempotency-mismatch" });
  const plain = await problemOf(await api.post("single", { type: "y" }));
  expect(plain).toMatchObject({ status: 422, type: "/problems/idempotency-mismatch" });
});

test("a flow without a key is refused", async () => {
  const { status, errors } = await problemOf(await send(flow, null));
  expect([status, errors]).toEqual([
    422,
    [expect.stringMatching(/^header:Idempotency-Key is required where jobs wait for one another, and stands for/)],
  ]);
});

test("a flow with a unique key that another job holds is refused under the key's pointer", async () => {
  const unique = { key: "held", on_conflict: "reject" };
  const { jobs } = await store({ jobs: [{ type: "x", unique }] });
  const { type, errors } = await problemOf(await send({ jobs: [{ type: "x" }], then: { type: "x", unique } }));
  expect([type, errors]).toEqual(["/problems/unique-conflict", [`/then/unique is held by the job ${jobs[0]?.id}`]]);
});
