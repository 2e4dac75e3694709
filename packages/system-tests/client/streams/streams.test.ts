import { eventually, tcpProxy, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { createClient, NetworkError, TooLargeError, ValidationError } from "@atlasqueue/client";
import { all, clientOf, testApi } from "../test-api.ts";

const api = forFile(testApi);
const client = clientOf(api);

const job = (key: string, more: object = {}) => ({ type: "a", idempotency_key: key, ...more });

async function* jobs(name: string, count: number, each: (at: number) => Promise<void> | void = () => {}) {
  for (let at = 0; at < count; at += 1) {
    await each(at);
    yield job(`${name}-${at}`);
  }
}

test("jobs are answered in order, and refused ones say why", async () => {
  const given = [
    job("one"),
    job("two", { priority: 1.5 }),
    job("three", { payload: { x: "x".repeat(400_000) } }),
    job("one"),
    { type: "b" },
  ];
  const answers = await all(client.submitStream(given));
  expect(answers).toMatchObject([
    { index: 0, key: "one", status: "queued", outcome: "created" },
    { index: 1, key: "two", error: expect.any(ValidationError) },
    { index: 2, key: "three", error: expect.any(TooLargeError) },
    { index: 3, outcome: "replayed" },
    { index: 4, outcome: "created" },
  ]);
  expect(await all(client.submitStream([]))).toEqual([]);
});

test("an answer comes while more jobs are yet to be made", async () => {
  const gate = Promise.withResolvers<void>();
  const answers = client.submitStream(jobs("live", 2, (at) => (at === 1 ? gate.promise : undefined)));
  expect((await answers.next()).value).toMatchObject({ index: 0, outcome: "created" });
  gate.resolve();
  expect((await answers.next()).value).toMatchObject({ index: 1, outcome: "created" });
  expect((await answers.next()).done).toBe(true);
});

test("a connection that is cut again and again loses no job and makes none twice", async () => {
  const proxy = await tcpProxy(api.url);
  onTestFinished(() => proxy.close());
  const ids = new Set<string>();
  let seen = 0;
  for await (const answer of createClient({ url: proxy.url }).submitStream(jobs("cut", 6_000))) {
    expect(answer.index).toBe(seen);
    seen += 1;
    if (answer.error) throw answer.error;
    ids.add(answer.id);
    if (seen % 1_500 === 0) proxy.reset();
  }
  expect([seen, ids.size, proxy.accepted() > 2]).toEqual([6_000, 6_000, true]);
  const again = await all(client.submitStream(jobs("cut", 6_000)));
  expect(again.every((answer) => !answer.error && answer.outcome === "replayed" && ids.has(answer.id))).toBe(true);
});

test("an API that restarts is waited for; one that stays away is an error", async () => {
  let restarted: Promise<void> | undefined;
  let seen = 0;
  for await (const { index, error } of client.submitStream(jobs("restart", 3_000))) {
    if (error) throw error;
    expect(index).toBe(seen);
    seen += 1;
    if (seen === 1_000) restarted = api.stop().then(() => api.start());
  }
  await restarted;
  expect(seen).toBe(3_000);
  const refused = createClient({ url: "http://127.0.0.1:1", retries: 1 });
  await expect(all(refused.submitStream([job("away")]))).rejects.toThrow(NetworkError);
});

test("jobs are taken no faster than answers are read, and a reader who leaves ends it", async () => {
  let made = 0;
  let ended = false;
  async function* endless() {
    try {
      for (;;) yield job(`endless-${(made += 1)}`);
    } finally {
      ended = true;
    }
  }
  const answers = client.submitStream(endless());
  for (let read = 1; read <= 3_000; read += 1) {
    await answers.next();
    expect(made - read).toBeLessThanOrEqual(2_001);
  }
  await answers.return();
  expect(ended).toBe(true);
});

test("a signal ends it with its reason at once while it waits for a job, and its source when that comes", async () => {
  const stop = new AbortController();
  const gate = Promise.withResolvers<void>();
  let ended = false;
  async function* source() {
    try {
      yield* jobs("abort", 2, (at) => (at === 1 ? gate.promise : undefined));
    } finally {
      ended = true;
    }
  }
  const answers = client.submitStream(source(), { signal: stop.signal });
  await answers.next();
  const next = answers.next();
  stop.abort(new Error("enough"));
  await expect(next).rejects.toThrow("enough");
  expect(ended).toBe(false);
  gate.resolve();
  await eventually(() => expect(ended).toBe(true));
});
