import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient, NetworkError, type StreamedJob } from "../index.ts";

// What becomes of a stream that rests, as its source has nothing for an hour or its answers are not read. No second of it passes.

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const second = 1_000;
const hour = 3_600 * second;
const rest = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const job = (key: string) => ({ type: "a", idempotency_key: key });
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A server, and the network before it, as a `fetch`. */
function fakeApi() {
  const lines: string[] = [];
  let connections = 0;
  let refusals_left = 0;
  let silent = false;
  let draining = false;
  let answer_ms = 0;
  let cut = () => {};

  const serve = async (body: AsyncIterable<Uint8Array>, say: (answer: object) => void): Promise<void> => {
    if (draining) return say({ end: "draining", answered: 0 });
    for await (const chunk of body) {
      for (const text of decoder.decode(chunk).trim().split("\n")) {
        if (silent) continue;
        if (answer_ms > 0) await rest(answer_ms);
        lines.push((JSON.parse(text) as { idempotency_key: string }).idempotency_key);
        say({ line: lines.length, id: String(lines.length), status: "queued", outcome: "created" });
      }
    }
    say({ end: "complete" });
  };
  const fetch: typeof globalThis.fetch = async (_url, { body, signal } = {}) => {
    connections += 1;
    if (refusals_left-- > 0) throw Object.assign(new TypeError("refused"), { code: "ECONNREFUSED" });
    const answers = new ReadableStream<Uint8Array>({
      start(controller) {
        cut = () => controller.error(new TypeError("reset"));
        signal?.addEventListener("abort", () => controller.error(signal.reason));
        const say = (answer: object) => controller.enqueue(encoder.encode(`${JSON.stringify(answer)}\n`));
        // Nobody hears what is said on a connection that is gone.
        serve(body as ReadableStream<Uint8Array>, say).catch(() => {});
      },
    });
    return new Response(answers);
  };
  const client = createClient({ url: "http://localhost", fetch, retries: Infinity, retryMaxMs: 60 * second });
  return {
    client,
    lines,
    connections: () => connections,
    reset: () => cut(),
    /** Cuts the connection, and refuses the next ones. */
    goAway(count: number) {
      refusals_left = count;
      cut();
    },
    /** Swallows what is sent on this connection. */
    fallSilent: () => void (silent = true),
    heal: () => void (silent = draining = false),
    drain: () => void (draining = true),
    answerAfter: (ms: number) => void (answer_ms = ms),
  };
}

/** What was answered, up to what was thrown; never rejects. */
function listen(answers: AsyncIterable<StreamedJob>, onAnswer: (key: string) => Promise<void> | void = () => {}) {
  const heard: { keys: string[]; thrown?: unknown } = { keys: [] };
  const over = (async () => {
    for await (const { key } of answers) {
      heard.keys.push(key);
      await onAnswer(key);
    }
  })().catch((error: unknown) => (heard.thrown = error));
  return { heard, over };
}

test("an API that goes away just as its source comes back from an hour's rest is waited for", async () => {
  const api = fakeApi();
  async function* source() {
    yield job("before");
    await rest(hour);
    api.goAway(3);
    yield job("after");
  }
  const { heard } = listen(api.client.submitStream(source()));
  await pass(hour + 10 * second);
  expect(heard).toEqual({ keys: ["before", "after"] });
  expect(api.connections()).toBe(5);
});

test("a connection lost while nothing had to be answered counts for nothing when there is something again", async () => {
  const api = fakeApi();
  async function* source() {
    yield job("before");
    await rest(second);
    api.goAway(0);
    await rest(hour);
    api.goAway(3);
    yield job("after");
  }
  const { heard } = listen(api.client.submitStream(source()));
  await pass(hour + 10 * second);
  expect(heard).toEqual({ keys: ["before", "after"] });
});

test("the hour that an answer was not read counts for nothing when the connection is gone by then", async () => {
  const api = fakeApi();
  const { heard } = listen(api.client.submitStream([job("one"), job("two")]), async (key) => {
    if (key !== "one") return;
    api.fallSilent();
    await rest(hour);
    api.heal();
    api.goAway(3);
  });
  await pass(hour + 10 * second);
  expect(heard).toEqual({ keys: ["one", "two"] });
});

test("an API that stays away is given up a minute after it was first missed", async () => {
  const api = fakeApi();
  async function* source() {
    yield job("before");
    await rest(hour);
    api.goAway(Infinity);
    yield job("after");
  }
  const { heard } = listen(api.client.submitStream(source()));
  await pass(hour + 40 * second);
  expect(heard).toEqual({ keys: ["before"] });
  await pass(20 * second);
  expect(heard).toEqual({ keys: ["before"], thrown: expect.any(NetworkError) });
});

test("an API that is stopping, and takes connections only to end them, is asked ever more seldom", async () => {
  const api = fakeApi();
  api.drain();
  const { heard } = listen(api.client.submitStream([job("one")]));
  await pass(60 * second);
  expect(api.connections()).toBeLessThan(60);
  api.heal();
  await pass(20 * second);
  expect(heard).toEqual({ keys: ["one"] });
});

test("a network that falls silent is noticed 90 s after a line was sent into it, and the line is sent again", async () => {
  const api = fakeApi();
  async function* source() {
    yield job("before");
    await rest(60 * second);
    api.fallSilent();
    yield job("after");
    await rest(second);
    api.heal();
    await rest(hour);
  }
  const { heard } = listen(api.client.submitStream(source()));
  await pass(149 * second);
  expect([api.connections(), heard]).toEqual([1, { keys: ["before"] }]);
  await pass(2 * second);
  expect([api.connections(), heard]).toEqual([2, { keys: ["before", "after"] }]);
});

test("a server owes an answer only from when there is something to answer, and nothing before", async () => {
  const api = fakeApi();
  async function* source() {
    yield job("before");
    await rest(hour - 10 * second);
    api.answerAfter(80 * second);
    yield job("after");
  }
  const { heard } = listen(api.client.submitStream(source()));
  await pass(hour + 80 * second);
  expect([api.connections(), heard]).toEqual([1, { keys: ["before", "after"] }]);
});
