import { job, problem, submittedBatch, type Job } from "@atlasqueue/contract";
import { forFile, ownSignal } from "@atlasqueue/harness";
import { afterAll, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const signal = ownSignal();
afterAll(() => signal.close());
const api = forFile(() => testApp({ signal }));
/** Another API process on the same database. */
const other = forFile(() => testApp({ signal, database: api.deps.database }));

let made = 0;
const submit = (body: object, key = `unique-${(made += 1)}`) => {
  const by = made % 2 ? api : other;
  return by.post(key, JSON.stringify({ type: "a", ...body }));
};
const jobOf = async (response: Response): Promise<Job> => job.parse(await response.json());
const signalled = async (queue: string) => (await signal.take([{ tenant: "default", queue }], 100)).ids;

test("the default answers with the existing job, and says so", async () => {
  const first = await submit({ queue: "q1", unique: {} });
  expect([first.status, first.headers.get("unique-conflict")]).toEqual([201, null]);
  const second = await submit({ queue: "q1", unique: {} }, "again");
  expect([second.status, second.headers.get("unique-conflict")]).toEqual([200, "returned"]);
  expect(second.headers.get("idempotency-replayed")).toBeNull();
  const created = await jobOf(first);
  expect((await jobOf(second)).id).toBe(created.id);
  const replayed = await submit({ queue: "q1", unique: {} }, "again");
  expect([replayed.status, replayed.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  expect((await jobOf(replayed)).id).toBe(created.id);
  expect(await signalled("q1")).toEqual([created.id]);
  await api.send("POST", `/v1/jobs/${created.id}/cancel`);
  expect((await submit({ queue: "q1", unique: {} })).status).toBe(201);
});

test("replace debounces: the last request counts, and its job is signalled when it may run", async () => {
  const unique = { key: "page-7", on_conflict: "replace" };
  const created = await jobOf(await submit({ queue: "q2", unique, delay_seconds: 60 }));
  const second = await submit({ queue: "q2", unique, payload: { n: 2 }, delay_seconds: 90 });
  expect([second.status, second.headers.get("unique-conflict")]).toEqual([200, "replaced"]);
  const replaced = await jobOf(second);
  expect(replaced).toMatchObject({ id: created.id, status: "scheduled", payload: { n: 2 } });
  expect(replaced.run_at > created.run_at).toBe(true);
  expect(await signalled("q2")).toEqual([]);
  expect(await jobOf(await submit({ queue: "q2", unique, payload: { n: 3 } }))).toMatchObject({ status: "queued" });
  expect(await signalled("q2")).toEqual([created.id]);
});

test("reject is 409 and names the job", async () => {
  const unique = { key: "one", scope: "window", window_seconds: 60, on_conflict: "reject" };
  const { id } = await jobOf(await submit({ queue: "q3", unique }));
  const response = await submit({ queue: "q3", unique });
  expect(response.status).toBe(409);
  const body = problem.parse(await response.json());
  expect([body.type, body.detail]).toEqual(["/problems/unique-conflict", `The job ${id} has this unique key`]);
});

test("a batch says which of its jobs already existed; a refused one stores none", async () => {
  const batch = (jobs: object[]) =>
    api.send("POST", "/v1/jobs/batch", undefined, {
      jobs: jobs.map((one) => ({ type: "a", queue: "q4", idempotency_key: `b-${(made += 1)}`, ...one })),
    });
  const first = await batch([{ unique: { key: "x" } }, {}, { unique: { key: "x" } }]);
  expect(first.status).toBe(201);
  const { jobs } = submittedBatch.parse(await first.json());
  expect(jobs.map(({ created }) => created)).toEqual([true, true, false]);
  expect(jobs[2]?.id).toBe(jobs[0]?.id);
  const refused = await batch([{}, { unique: { key: "x", on_conflict: "reject" } }]);
  expect(refused.status).toBe(409);
  expect(problem.parse(await refused.json())).toMatchObject({
    type: "/problems/unique-conflict",
    errors: [{ pointer: "/jobs/1/unique", message: `is held by the job ${jobs[0]?.id}` }],
  });
  expect(await api.deps.database.sql`SELECT id FROM atlasqueue.jobs WHERE queue = 'q4'`).toHaveLength(2);
});
