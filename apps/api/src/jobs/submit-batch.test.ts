import { type Problem, submittedBatch } from "@atlasqueue/contract";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);

const send = (jobs: object[], key?: string) =>
  api.send("POST", "/v1/jobs/batch", undefined, { jobs }, key === undefined ? {} : { "idempotency-key": key });
const answerOf = async (response: Response) => submittedBatch.parse(await response.json()).jobs;
const problemOf = async (response: Response) => (await response.json()) as Problem;
const replayed = (response: Response) => response.headers.get("idempotency-replayed");
const stored = async (queue: string) =>
  (await api.deps.database.sql`SELECT FROM atlasqueue.jobs WHERE queue = ${queue}`).length;
const jobsOf = (queue: string, count = 3) =>
  Array.from({ length: count }, (_, n) => ({ type: "a", queue, payload: { n } }));

test("under a key of its own a batch is one request: the same again answers the same ids", async () => {
  const first = await send(jobsOf("whole"), "import 17");
  expect([first.status, replayed(first)]).toEqual([201, null]);
  const jobs = await answerOf(first);
  expect(jobs.map(({ created }) => created)).toEqual([true, true, true]);
  const again = await send(jobsOf("whole"), '"import 17"');
  expect([again.status, replayed(again)]).toEqual([201, "true"]);
  expect(await answerOf(again)).toEqual(jobs.map((one) => ({ ...one, created: false })));
  expect(await stored("whole")).toBe(3);
});

test("another batch under the key is refused wherever it differs, and nothing of it is stored", async () => {
  const jobs = jobsOf("differs");
  await send(jobs, "import 18");
  for (const other of [jobs.slice(0, 2), [...jobs, ...jobs], jobs.toReversed(), [...jobs.slice(0, 2), { type: "b" }]]) {
    const refused = await send(other, "import 18");
    expect([refused.status, (await problemOf(refused)).type]).toEqual([422, "/problems/idempotency-mismatch"]);
  }
  expect(await stored("differs")).toBe(3);
});

test("a batch's key is no job's, nor is one made from it", async () => {
  expect((await send(jobsOf("shared", 1), "shared")).status).toBe(201);
  expect((await api.post("shared", { type: "a" })).status).toBe(201);
  expect((await api.post("shared\\n0", { type: "a" })).status).toBe(201);
});
