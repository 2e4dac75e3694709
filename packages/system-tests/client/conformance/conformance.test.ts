import { readFileSync } from "node:fs";
import { createClient, type Client } from "@atlasqueue/client";
import * as errors from "@atlasqueue/client";
import { httpReceiver, type Answer, type ReceivedRequest } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";

// What each client of the API must do: packages/python/tests runs the same table.
type Said = "hang_up" | "silence" | { status: number; headers?: Record<string, string>; body?: unknown; text?: string };
type Case = {
  name: string;
  call: Record<string, never>;
  options?: { timeout_seconds?: number; retries?: number; wait_seconds?: number };
  answers: Said[];
  requests: { method: string; path: string; body?: unknown; key?: string }[];
  result?: unknown;
  error?: { kind: string; errors?: unknown; refused?: boolean; from_api?: boolean } & Record<string, unknown>;
};
const { cases } = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8")) as { cases: Case[] };

type LeaseCase = {
  queue: string;
  worker_id: string;
  max_jobs: number;
  lease_token: string;
  types?: string[];
  lease_seconds?: number;
  wait_seconds?: number;
};
const held = ({ id, lease_token }: { id: string; lease_token: string }) => ({ job: { id }, lease_token });
const fields = async (answer: Promise<object>, ...names: string[]) => {
  const found = (await answer) as Record<string, unknown>;
  return Object.fromEntries(names.map((name) => [name, found[name]]));
};
const job = (answer: Promise<object>) => fields(answer, "id", "status");

/** The calls of the table. */
const calls: Record<string, (client: Client, given: never, waits: { timeoutMs?: number }) => Promise<unknown>> = {
  submit: (client, given) => fields(client.submit(given), "id", "created"),
  submit_many: async (client, given) =>
    (await client.submitMany(given)).map(({ id, created }: { id: string; created: boolean }) => ({ id, created })),
  get: (client, id) => job(client.get(id)),
  wait: (client, id, waits) => job(client.wait(id, waits)),
  result: (client, id, waits) => client.handle(id).result(waits),
  cancel: (client, id) => job(client.cancel(id)),
  retry: (client, id) => job(client.retry(id)),
  retry_with_key: (client, { id, key }: { id: string; key: string }) => job(client.retry(id, { idempotencyKey: key })),
  lease: async (client, given: LeaseCase) => {
    const { queue, worker_id: workerId, max_jobs: maxJobs, lease_token: leaseToken, types } = given;
    const { lease_seconds: leaseSeconds = 30, wait_seconds: waitSeconds = 0 } = given;
    const options = { workerId, maxJobs, leaseToken, leaseSeconds, waitSeconds, types };
    return (await client.lease(queue, options)).map((one) => ({ id: one.job.id, lease_token: one.lease_token }));
  },
  ack: (client, given: { id: string; lease_token: string; result: never }) =>
    job(client.ack(held(given), given.result)),
  nack: (client, { error, retry, ...given }: { id: string; lease_token: string; error: string; retry: boolean }) =>
    job(client.nack(held(given), error, { retry })),
  heartbeat: async (client, { progress, ...given }: { id: string; lease_token: string; progress: never }) => {
    await client.heartbeat(held(given), { leaseSeconds: 30, progress });
    return null;
  },
  release: (client, given) => job(client.release(held(given))),
  release_lease: (client, token) => client.releaseLease(token),
  pause: (client, queue) => fields(client.pause(queue), "queue", "paused"),
  replay: (client, { dry_run = false, ...which }: { dry_run?: boolean; queue: string }) =>
    fields(client.deadLetters.replay(which, { dryRun: dry_run }), "matched", "changed"),
  signal: (client, { id, name, payload }: { id: string; name: string; payload: never }) =>
    client.signal(id, name, payload),
  put_schedule: (client, given) => fields(client.schedules.put(given), "name", "cron"),
  run_schedule: (client, name) => job(client.schedules.run(name)),
  create_token: (client, given) => client.tokens.create(given),
  async list(client, filter) {
    const ids: string[] = [];
    for await (const { id } of client.list(filter)) ids.push(id);
    return ids;
  },
};

const answerOf = (said: Said | undefined): Answer | Promise<Answer> => {
  if (said === undefined || said === "hang_up") return "hang_up";
  if (said === "silence") return new Promise(() => {});
  const { status, headers = {}, body, text = JSON.stringify(body) } = said;
  return { status, headers: { "content-type": "application/json", ...headers }, body: text };
};

test.each(cases)("$name", async ({ call, options = {}, answers, requests, result, error }) => {
  let next = 0;
  const server = await httpReceiver(() => answerOf(answers[Math.min(next++, answers.length - 1)]));
  onTestFinished(() => server.close());
  const { timeout_seconds = 10, retries = 5, wait_seconds = 60 } = options;
  const client = createClient({ url: server.url, timeoutMs: timeout_seconds * 1_000, retries });
  const [[name, given]] = Object.entries(call) as [[string, never]];
  const run = calls[name]?.(client, given, { timeoutMs: wait_seconds * 1_000 });
  if (error) expectError(await run?.catch((thrown: unknown) => thrown), error);
  else expect(await run).toEqual(result);
  expect(server.requests.map(shapeOf)).toEqual(requests.map(({ method, path }) => ({ method, path: queryOf(path) })));
  for (const [at, { body, key }] of requests.entries()) {
    const received = server.requests[at] as ReceivedRequest;
    if (body !== undefined) expect(JSON.parse(received.body)).toEqual(body);
    if (key !== undefined) expect(received.headers["idempotency-key"]).toMatch(new RegExp(key));
    const before = server.requests[at - 1];
    if (before?.path !== received.path || before.method !== received.method) continue;
    expect(received.body).toBe(before.body);
    expect(received.headers["idempotency-key"]).toBe(before.headers["idempotency-key"]);
  }
});

function expectError(
  thrown: unknown,
  { kind, from_api, retry_after_seconds, request_id, ...facts }: never | (Case["error"] & object),
) {
  const named = errors as unknown as Record<string, new () => Error>;
  expect(thrown).toBeInstanceOf(errors.AtlasQueueError);
  if (kind !== "any") expect((thrown as Error).constructor).toBe(named[`${kind}Error`]);
  expect(thrown).toMatchObject(facts);
  if (typeof retry_after_seconds === "number")
    expect(thrown).toMatchObject({ retryAfterMs: retry_after_seconds * 1_000 });
  if (request_id !== undefined) expect(thrown).toMatchObject({ requestId: request_id });
  const { problem } = thrown as errors.AtlasQueueError;
  if (from_api !== undefined) expect(problem?.type.startsWith("/problems/") ?? false).toBe(from_api);
}

const shapeOf = ({ method, path }: ReceivedRequest) => ({ method, path: queryOf(path) });
const queryOf = (path: string) => {
  const url = new URL(path, "http://any");
  url.searchParams.sort();
  return url.pathname + url.search;
};
