import { submittedBatch, type Problem, type SubmitSingleInput, type SubmittedBatch } from "@atlasqueue/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

let api: Awaited<ReturnType<typeof testApp>>;
beforeAll(async () => void (api = await testApp()));
afterAll(() => api.stop());

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
const nobody = "01920000-0000-7000-8000-000000000000";

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

const x = { type: "x", queue: "refused" };
const unknown = "must be the ref of a job in this batch, or the id of one that exists; got";
const refAccepts = "a string of 1 to 128 characters out of A-Z a-z 0-9 . _ : -, and not a UUID";
const refused: [string, object, string[]][] = [
  ["a ref no one has", { jobs: [{ ...x, depends_on: ["z"] }] }, [`/jobs/0/depends_on/0 ${unknown} "z"`]],
  ["an id no one has", { jobs: [x, { ...x, depends_on: [nobody] }] }, [`/jobs/1/depends_on/0 ${unknown} "${nobody}"`]],
  [
    "a job that waits for itself",
    { jobs: [{ ...x, ref: "a", depends_on: ["a"] }] },
    ['/jobs/0/depends_on/0 must not be the job itself; got "a"'],
  ],
  [
    "a circle",
    {
      jobs: [
        { ...x, ref: "a", depends_on: ["b"] },
        { ...x, ref: "b", depends_on: ["a"] },
      ],
    },
    [0, 1].map((at) => `/jobs/${at}/depends_on/0 must not make jobs wait for one another in a circle: a → b → a`),
  ],
  [
    "a ref twice",
    {
      jobs: [
        { ...x, ref: "a" },
        { ...x, ref: "a" },
      ],
    },
    ['/jobs/1/ref must not be that of /jobs/0 too; got "a"'],
  ],
  ["a ref that is a UUID", { jobs: [{ ...x, ref: nobody }] }, [`/jobs/0/ref must be ${refAccepts}; got "${nobody}"`]],
  ["an empty ref", { jobs: [{ ...x, ref: "" }] }, [`/jobs/0/ref must be ${refAccepts}; got ""`]],
  [
    "a parent named twice",
    {
      jobs: [
        { ...x, ref: "a" },
        { ...x, depends_on: ["a", "a"] },
      ],
    },
    ['/jobs/1/depends_on/1 must not be named twice; got "a"'],
  ],
  [
    "a parent that is no text",
    { jobs: [{ ...x, depends_on: [1] }] },
    ["/jobs/0/depends_on/0 must be the ref of a job in this batch, or the id of one that exists; got 1"],
  ],
  [
    "a policy without parents",
    { jobs: [{ ...x, on_parent_failure: "run" }] },
    ["/jobs/0/on_parent_failure must not be given without depends_on"],
  ],
  [
    "a policy there is not",
    {
      jobs: [
        { ...x, ref: "a" },
        { ...x, depends_on: ["a"], on_parent_failure: "retry" },
      ],
    },
    ['/jobs/1/on_parent_failure must be "cancel", "wait" or "run"; got "retry"'],
  ],
  [
    "a key of a job's own",
    {
      jobs: [
        { ...x, ref: "a", idempotency_key: "k" },
        { ...x, depends_on: ["a"] },
      ],
    },
    [
      '/jobs/0/idempotency_key must be left out where jobs wait for one another, as one key stands for all of them; got "k"',
    ],
  ],
  [
    "a unique job that another could stand for",
    { jobs: [{ ...x, unique: {} }], then: { ...x, unique: { on_conflict: "replace" } } },
    [
      '/jobs/0/unique/on_conflict must be "reject" for a job in a flow; got "return"',
      '/then/unique/on_conflict must be "reject" for a job in a flow; got "replace"',
    ],
  ],
  [
    "a `then` that waits",
    { jobs: [x], then: { ...x, depends_on: [] } },
    ["/then/depends_on is not a field of this request"],
  ],
  [
    "too many ties",
    {
      jobs: Array.from({ length: 1_000 }, (_, at) => ({
        ...x,
        ref: `${at}`,
        ...(at >= 989 && { depends_on: refs(911) }),
      })),
    },
    ["/jobs must not wait for more than 10000 jobs, counting each as often as it is named; got 10021"],
  ],
];
function refs(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${at}`);
}

describe("nothing is stored of a flow with", () => {
  test.each(refused)("%s", async (_what, body, errors) => {
    expect(await problemOf(await send(body))).toEqual({ status: 422, type: "/problems/validation", errors });
    expect(await api.deps.database.sql`SELECT FROM atlasqueue.jobs WHERE queue = 'refused'`).toHaveLength(0);
  });

  test("no key", async () => {
    const { status, errors } = await problemOf(await send(flow, null));
    expect([status, errors]).toEqual([
      422,
      [expect.stringMatching(/^header:Idempotency-Key is required where jobs wait for one another, and stands for/)],
    ]);
  });

  test("a unique key that is held", async () => {
    const unique = { key: "held", on_conflict: "reject" };
    const { jobs } = await store({ jobs: [{ type: "x", unique }] });
    const { type, errors } = await problemOf(await send({ jobs: [{ type: "x" }], then: { type: "x", unique } }));
    expect([type, errors]).toEqual(["/problems/unique-conflict", [`/then/unique is held by the job ${jobs[0]?.id}`]]);
  });
});

test("alone, a job that waits for one that does not exist is refused under its own pointer", async () => {
  const { status, errors } = await problemOf(await api.post(newKey(), { type: "x", depends_on: [nobody] }));
  expect([status, errors]).toEqual([422, [`/depends_on/0 must be the id of a job that exists; got "${nobody}"`]]);
  const ref = await problemOf(await api.post(newKey(), { type: "x", depends_on: ["a"] }));
  expect(ref.errors).toEqual(['/depends_on/0 must be a UUID; got "a"']);
  const unique = await problemOf(await api.post(newKey(), { type: "x", depends_on: [nobody], unique: {} }));
  expect(unique.errors).toEqual(['/unique/on_conflict must be "reject" for a job in a flow; got "return"']);
});
