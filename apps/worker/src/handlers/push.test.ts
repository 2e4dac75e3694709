import { createLogger } from "@atlasqueue/core";
import { pauseAll } from "@atlasqueue/core/internal";
import { explainJob, findJob, resumeQueue } from "@atlasqueue/core/internal/http";
import { eventually, forFile, httpReceiver, submission, submit, testCore } from "@atlasqueue/harness";
import { startWorker } from "@atlasqueue/worker";
import { expect, onTestFinished, test } from "vitest";
import { readWorkerConfig } from "../config.ts";
import { noopHandler } from "./demo.ts";
import { pushHandler } from "./push.ts";

const own = forFile(testCore);
const deps = () => ({ ...own, logger: createLogger("silent", "t") });

/** A worker that pushes to a receiver with these responses, the last one again and again. */
async function pushing(...answers: { status: number; headers?: Record<string, string> }[]) {
  let calls = 0;
  const receiver = await httpReceiver(() => answers[Math.min((calls += 1), answers.length) - 1] ?? { status: 500 });
  const push = pushHandler({ url: `${receiver.url}/run`, secrets: new Map() });
  const backoff = { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 };
  const worker = startWorker(deps(), { handlers: [noopHandler, push], backoff });
  onTestFinished(async () => {
    await worker.stop({ deadlineMs: 0 });
    await receiver.close();
  });
  return receiver;
}

async function add(request: Parameters<typeof submission>[0]): Promise<string> {
  const [outcome] = await submit(deps(), [submission(request)], { idempotency_ttl_seconds: 60 });
  return outcome && "job" in outcome ? outcome.job.id : "";
}

const ended = (id: string, ...statuses: string[]) =>
  eventually(async () => {
    const job = await findJob(deps(), "default", id);
    return job !== undefined && statuses.includes(job.status) && job;
  });

test("jobs without a handler of their own are posted, and the status decides", async () => {
  const receiver = await pushing({ status: 500 }, { status: 200 });
  const id = await add({ type: "any.type", payload: { n: 1 } });
  expect(await ended(id, "succeeded")).toMatchObject({ attempts: 2, result: { status: 200 } });
  const [first, second] = receiver.requests.map(({ method, path, headers, body }) => ({
    method,
    path,
    key: headers["idempotency-key"],
    body: JSON.parse(body) as object,
  }));
  expect(first).toMatchObject({ method: "POST", path: "/run", key: id });
  expect(first?.body).toMatchObject({ id, type: "any.type", queue: "default", attempt: 1, payload: { n: 1 } });
  expect(second?.body).toMatchObject({ id, attempt: 2, last_error: "Error: the receiver answered 500" });
  const noop = await add({ type: "noop" });
  expect(await ended(noop, "succeeded")).toMatchObject({ result: null });
  expect(receiver.requests).toHaveLength(2);
});

test("Retry-After decides when a push is repeated, and 410 ends it", async () => {
  await pushing({ status: 503, headers: { "retry-after": "600" } }, { status: 410 });
  const waits = await ended(await add({ type: "any.type" }), "failed");
  expect(waits.last_error).toBe("RetryAfterError: the receiver answered 503");
  expect(waits.run_at.getTime() - waits.updated_at.getTime()).toBe(600_000);
  expect(await ended(await add({ type: "any.type" }), "dead")).toMatchObject({ dead_reason: "not_retryable" });
});

test("explain names no missing handler once a worker pushes", async () => {
  const id = await add({ type: "any.type" });
  await pauseAll(own.database);
  const noop = startWorker(deps(), { handlers: [noopHandler] });
  const reasons = async () => (await explainJob(deps(), "default", id))?.reasons.map(({ code }) => code);
  await eventually(async () => expect(await reasons()).toContain("no_worker"));
  // Otherwise it may take the job first, and let it rest.
  await noop.stop({ deadlineMs: 0 });
  await pushing({ status: 200 });
  await eventually(async () => expect(await reasons()).not.toContain("no_worker"));
  await resumeQueue(deps(), { tenant: "default", queue: "default" });
  expect(await ended(id, "succeeded")).toBeTruthy();
});

test.each([
  ["WEBHOOK_SECRETS", "customer=abc", /^WEBHOOK_SECRETS must be name=whsec_… with 24 to 64 bytes .+not shown/],
  ["WORKER_PUSH_URL", "ftp://x", /^WORKER_PUSH_URL must be a URL that begins with http/],
])("%s=%s is refused", (name, value, message) => {
  expect(() => readWorkerConfig({ DATABASE_URL: own.url, [name]: value })).toThrow(message);
});
