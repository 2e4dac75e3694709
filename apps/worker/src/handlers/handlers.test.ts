import { createLogger, createQueue } from "@atlasqueue/core";
import { findJob } from "@atlasqueue/core/internal/http";
import { eventually, forFile, httpReceiver, submission, submit, testCore } from "@atlasqueue/harness";
import { startWorker, type Worker } from "@atlasqueue/worker";
import { afterEach, expect, onTestFinished, test } from "vitest";
import type { SubmitJobInput } from "@atlasqueue/contract";
import { demoHandlers, noopHandler } from "./demo.ts";
import { isPublicAddress } from "./public-address.ts";
import { retryAfterMs } from "./deliver.ts";
import { webhookHandler } from "./webhook-deliver.ts";

const own = forFile(testCore);
let worker: Worker | undefined;
let receiver: Awaited<ReturnType<typeof httpReceiver>> | undefined;
const deps = () => ({ ...own, logger: createLogger("silent", "t") });

afterEach(async () => {
  await worker?.stop({ deadlineMs: 0 });
  await receiver?.close();
});

const run = async (request: Partial<SubmitJobInput>, allow_private = true) => {
  await worker?.stop({ deadlineMs: 0 });
  const backoff = { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 };
  worker = startWorker(deps(), {
    handlers: [noopHandler, ...demoHandlers, webhookHandler({ allow_private, secrets: new Map() })],
    backoff,
  });
  const [outcome] = await submit(deps(), [submission(request)], { idempotency_ttl_seconds: 60 });
  const id = outcome && "job" in outcome ? outcome.job.id : "";
  return eventually(async () => {
    const job = await findJob(deps(), "default", id);
    return (job?.status === "succeeded" || job?.status === "dead") && job;
  });
};

test("the demo handlers do what their names say", async () => {
  expect(await run({ type: "noop", payload: { any: 1 } })).toMatchObject({ status: "succeeded", result: null });
  expect(await run({ type: "demo.echo", payload: { a: [1] } })).toMatchObject({ result: { a: [1] } });
  expect(await run({ type: "demo.sleep", payload: { ms: 1 } })).toMatchObject({ result: { slept_ms: 1 } });
  expect(await run({ type: "demo.flaky", payload: { fail_times: 2 } })).toMatchObject({
    status: "succeeded",
    attempts: 3,
  });
  const failed = { type: "demo.fail", payload: { message: "as told" }, max_attempts: 2 };
  expect(await run(failed)).toMatchObject({ status: "dead", attempts: 2, last_error: "Error: as told" });
});

test("a webhook is delivered as JSON with the job's id, the same at every attempt", async () => {
  let calls = 0;
  receiver = await httpReceiver(() => ({ status: (calls += 1) === 1 ? 503 : 204 }));
  const payload = {
    url: `${receiver.url}/hook?x=1`,
    body: { order: 17 },
    headers: { "X-Shop": "tea", "Content-Length": "1" },
  };
  const job = await run({ type: "webhook.deliver", payload });
  expect(job).toMatchObject({ status: "succeeded", attempts: 2, result: { status: 204 } });
  expect(receiver.requests).toHaveLength(2);
  for (const request of receiver.requests) {
    expect(request).toMatchObject({ method: "POST", path: "/hook?x=1", body: '{"order":17}' });
    expect(request.headers).toMatchObject({
      "x-shop": "tea",
      "content-type": "application/json",
      "idempotency-key": job.id,
    });
  }
});

test("a webhook at the end of a flow says how many of its jobs ended how", async () => {
  receiver = await httpReceiver(() => ({ status: 204 }));
  const { url } = receiver;
  const queue = createQueue({ databaseUrl: own.url });
  onTestFinished(() => queue.close());
  const bodies = [undefined, { order: 17 }, { flow: "mine" }, ["a list"]];
  const jobs = [{ type: "noop" }, { type: "demo.fail", payload: { message: "no" }, max_attempts: 1 }];
  const ids: string[] = [];
  for (const body of bodies) {
    const payload = { url, ...(body === undefined ? {} : { body }) };
    const { flow_id } = await queue.submitFlow({ jobs, then: { type: "webhook.deliver", payload } });
    ids.push(flow_id ?? "");
  }
  await run({ type: "noop" });
  const delivered = await eventually(() => receiver?.requests.length === bodies.length && receiver.requests);
  const ended = (id: string | undefined) => ({ id, succeeded: 1, dead: 1, cancelled: 0 });
  expect(delivered.map(({ body }) => body).toSorted()).toEqual(
    [{ flow: ended(ids[0]) }, { flow: ended(ids[1]), order: 17 }, { flow: "mine" }, ["a list"]]
      .map((body) => JSON.stringify(body))
      .toSorted(),
  );
});

test("a redirect is not followed, and counts as a failure", async () => {
  receiver = await httpReceiver(() => ({ status: 302, headers: { location: "/elsewhere" } }));
  const job = await run({ type: "webhook.deliver", payload: { url: receiver.url }, max_attempts: 1 });
  expect(job).toMatchObject({ status: "dead", last_error: "Error: the receiver answered 302" });
  expect(receiver.requests).toHaveLength(1);
});

test.each([
  "http://127.0.0.1:1/",
  "http://[::1]:1/",
  "http://[::ffff:10.0.0.1]/",
  "http://169.254.169.254/",
  "http://0x7f000001/",
])("%s is refused unless private addresses are allowed", async (url) => {
  const job = await run({ type: "webhook.deliver", payload: { url } }, false);
  expect(job).toMatchObject({ status: "dead", attempts: 1, dead_reason: "not_retryable" });
  expect(job.last_error).toMatch(/^DoNotRetryError: .+ is inside the network; WEBHOOK_ALLOW_PRIVATE=true allows it$/);
});

test("a name inside the network fails like one that does not exist, so that callers cannot learn which do", async () => {
  const errors: unknown[] = [];
  for (const host of ["localhost", "no-such-name.invalid"]) {
    const payload = { url: `http://${host}:1/` };
    const job = await run({ type: "webhook.deliver", payload, max_attempts: 1 }, false);
    expect(job).toMatchObject({ status: "dead", dead_reason: "attempts_exhausted" });
    errors.push(job.last_error?.replace(host, "NAME"));
    await worker?.stop({ deadlineMs: 1_000 });
  }
  expect(new Set(errors)).toEqual(
    new Set(["Error: NAME leads to no public address; WEBHOOK_ALLOW_PRIVATE=true allows others"]),
  );
});

test("only http and https URLs are delivered to", async () => {
  const job = await run({ type: "webhook.deliver", payload: { url: "file:///etc/passwd" }, max_attempts: 1 });
  expect(job.last_error).toMatch(/^PayloadError: /);
});

test("addresses are told apart", () => {
  const inside = [
    "10.1.2.3",
    "192.168.0.1",
    "172.16.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "::1",
    "fe80::1",
    "fc00::1",
    "::ffff:127.0.0.1",
    "::7f00:1",
    "255.255.255.255",
    "nonsense",
    // Clouds' metadata: AWS, GCP and Azure, Azure, Alibaba, Oracle, AWS, Equinix, IBM, Tencent.
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "fd00:ec2::254",
    "192.80.8.124",
    "161.26.0.10",
    "166.9.1.1",
    "169.254.0.23",
    "::ffff:168.63.129.16",
    "64:ff9b::a83f:8110",
    "64:ff9b:1::7f00:1",
    "2002:a83f:8110::1",
  ];
  expect(inside.filter(isPublicAddress)).toEqual([]);
  expect(["93.184.215.14", "168.63.129.17", "2606:2800:220:1::1"].filter(isPublicAddress)).toHaveLength(3);
});

test("a Retry-After is read as seconds or as a date, and bounded", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(retryAfterMs("120", now)).toBe(120_000);
  expect(retryAfterMs("Thu, 01 Jan 2026 00:00:05 GMT", now)).toBe(5_000);
  expect(retryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0);
  expect(retryAfterMs("99999999999", now)).toBe(86_400_000);
  expect(retryAfterMs("soon", now)).toBeUndefined();
  expect(retryAfterMs(undefined, now)).toBeUndefined();
});
