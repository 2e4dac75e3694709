import { tcpProxy, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { AuthError, createClient, type StreamedJob } from "@atlasqueue/client";
import { testApi } from "../test-api.ts";

// What becomes of a stream whose source of jobs fails, or does not let itself be left.

const api = forFile(testApi);

const broken = new Error("the file could not be read");
const never = new Promise<never>(() => {});
const job = (key: string, more: object = {}) => ({ type: "a", idempotency_key: key, ...more });

/** The answers up to what was thrown, if anything was. */
async function read(answers: AsyncIterable<StreamedJob>): Promise<{ found: StreamedJob[]; thrown?: unknown }> {
  const found: StreamedJob[] = [];
  try {
    for await (const answer of answers) found.push(answer);
    return { found };
  } catch (thrown) {
    return { found, thrown };
  }
}

/** A server that answers once it has read this often from the body: twice, and a further job is asked for. */
const answering =
  (status: number, answer: object, reads: 1 | 2 = 1): typeof fetch =>
  async (_url, { body: lines } = {}) => {
    const body = (lines as ReadableStream<Uint8Array>).getReader();
    await body.read();
    if (reads === 2) body.read().catch(() => {});
    return new Response(`${JSON.stringify(answer)}\n`, { status });
  };

/** Always has a job ready, and does this as it is left. */
const ready = (onLeave: () => Promise<never>) => ({
  [Symbol.asyncIterator]: () => ({
    next: async () => ({ done: false as const, value: job("ready") }),
    return: onLeave,
  }),
});

test.each([0, 3, 500])("a source that fails after %i jobs has their answers, then its own error", async (count) => {
  const given = (name: string) => Array.from({ length: count }, (_, at) => job(`${name}-${count}-${at}`));
  async function* live() {
    yield* given("live");
    throw broken;
  }
  function* sync() {
    yield* given("sync");
    throw broken;
  }
  for (const source of [live(), sync()]) {
    const { found, thrown } = await read(createClient({ url: api.url }).submitStream(source));
    expect(thrown).toBe(broken);
    expect(found.filter(({ error }) => !error).map(({ index }) => index)).toEqual([...given("").keys()]);
  }
});

test("a source that fails once its jobs have their answers is not taken for one that has ended", async () => {
  const answered = Promise.withResolvers<void>();
  async function* source() {
    yield job("late");
    await answered.promise;
    throw broken;
  }
  const answers = createClient({ url: api.url }).submitStream(source());
  expect((await answers.next()).value).toMatchObject({ key: "late", outcome: "created" });
  answered.resolve();
  expect(await read(answers)).toEqual({ found: [], thrown: broken });
});

test("what was open as its connection broke is answered, though the source failed meanwhile", async () => {
  const proxy = await tcpProxy(api.url);
  onTestFinished(() => proxy.close());
  const answered = Promise.withResolvers<void>();
  async function* source() {
    yield job("open-0");
    await answered.promise;
    proxy.blackhole("answers");
    yield job("open-1");
    proxy.refuse();
    setTimeout(() => proxy.heal());
    throw broken;
  }
  const answers = createClient({ url: proxy.url }).submitStream(source());
  expect((await answers.next()).value).toMatchObject({ index: 0, outcome: "created" });
  answered.resolve();
  const { found, thrown } = await read(answers);
  expect(found).toMatchObject([{ index: 1, key: "open-1", id: expect.any(String) }]);
  expect(thrown).toBe(broken);
});

test("a job that JSON cannot hold ends the stream with the reason, after those before it", async () => {
  let left = false;
  function* source() {
    try {
      yield job("plain");
      yield job("large", { payload: { n: 1n } });
      yield job("after");
    } finally {
      left = true;
    }
  }
  const { found, thrown } = await read(createClient({ url: api.url }).submitStream(source()));
  expect(found).toMatchObject([{ key: "plain", outcome: "created" }]);
  expect(thrown).toBeInstanceOf(TypeError);
  expect(left).toBe(true);
});

test("what ends a stream is told at once while the source has no job", async () => {
  async function* source() {
    yield job("only");
    await never;
  }
  const client = createClient({ url: "http://localhost", fetch: answering(401, {}, 2) });
  const { found, thrown } = await read(client.submitStream(source()));
  expect(found).toEqual([]);
  expect(thrown).toBeInstanceOf(AuthError);
});

test.each([
  ["fails as it is left", () => Promise.reject(broken)],
  ["is never done leaving", () => never],
])("what ended a stream is told, though its source %s", async (_, onLeave) => {
  const source = ready(onLeave);
  const refused = createClient({ url: "http://localhost", fetch: answering(401, {}), timeoutMs: 20 });
  expect((await read(refused.submitStream(source))).thrown).toBeInstanceOf(AuthError);
  const stop = new AbortController();
  const answers = createClient({ url: api.url }).submitStream(source, { signal: stop.signal });
  await answers.next();
  stop.abort(new Error("enough"));
  expect((await read(answers)).thrown).toMatchObject({ message: "enough" });
});

test("a reader who leaves hears why the source could not be left", async () => {
  const taken = { line: 1, id: "17", status: "queued", outcome: "created" };
  const client = createClient({ url: "http://localhost", fetch: answering(200, taken) });
  const answers = client.submitStream(ready(() => Promise.reject(broken)));
  await answers.next();
  await expect(answers.return()).rejects.toBe(broken);
});
