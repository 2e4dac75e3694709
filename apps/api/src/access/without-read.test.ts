import { forFile } from "@atlasqueue/harness";
import { jobReceipt } from "@atlasqueue/contract";
import { beforeAll, expect, test } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";

const api = forFile(guardedApp);
let admin: string;
let submitter: string;
let worker: string;
beforeAll(async () => {
  [admin, submitter, worker] = (await Promise.all(
    (["admin", "submit", "work"] as const).map(async (scope) => (await api.token(scope)).token),
  )) as [string, string, string];
});

const secret = { payload: { secret: "s3cret" }, unique: { key: "u" }, type: "a", queue: "secrets" };
const submit = (key: string, token: string, body: object = secret) =>
  api.send("POST", "/v1/jobs", token, body, { "idempotency-key": key });
/** The answer has nothing but the receipt. */
const receipt = async (response: Response, status = 200) => {
  const text = await response.text();
  expect(response.status, text).toBe(status);
  return jobReceipt.strict().parse(JSON.parse(text));
};

test("without read, submitting, cancelling and retrying answer with id, status and times", async () => {
  const stored = await receipt(await submit("k1", submitter), 201);
  expect(await receipt(await submit("k1", submitter))).toEqual(stored);
  const own = { ...secret, payload: {} };
  expect((await receipt(await submit("k2", submitter, own))).id).toBe(stored.id);
  expect(await receipt(await api.send("POST", `/v1/jobs/${stored.id}/cancel`, submitter))).toMatchObject({
    status: "cancelled",
  });
  expect(await receipt(await api.send("POST", `/v1/jobs/${stored.id}/retry`, submitter))).toMatchObject({
    status: "queued",
  });
  const read = await api.send("POST", `/v1/jobs/${stored.id}/cancel`, admin);
  expect(await read.json()).toMatchObject({ payload: secret.payload });
});

test.each([
  ["ack", { result: { secret: 1 } }],
  ["nack", { error: "s3cret" }],
  ["release", {}],
])("without read, a lease has its payload, and %s answers with id, status and times", async (act, body) => {
  const queue = `w-${act}`;
  const job = { ...secret, queue, unique: undefined };
  const { id } = await receipt(await submit(queue, submitter, job), 201);
  const leased = await api.send("POST", `/v1/queues/${queue}/lease`, worker, { worker_id: "w" });
  const { jobs } = (await leased.json()) as { jobs: { job: object; lease_token: string }[] };
  expect(jobs[0]?.job).toMatchObject({ id, payload: secret.payload });
  const { lease_token } = jobs[0] ?? {};
  await receipt(await api.send("POST", `/v1/jobs/${id}/${act}`, worker, { lease_token, ...body }));
});
