import { liveEvent, type LiveEvent } from "@atlasqueue/contract";
import type { LiveEventText } from "@atlasqueue/core/internal/http";
import { eventually, forFile } from "@atlasqueue/harness";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../test/guarded-app.ts";
import { cookieOf, own } from "../../test/sessions.ts";
import { foldAll } from "../../../../packages/core/src/counts/fold.ts";
import { createEventStream } from "./event-stream.ts";

const api = forFile(guardedApp);
let mine: string;
let tenant: string;
beforeAll(async () => {
  tenant = await makeTenant(api.deps);
  mine = (await makeToken(api.deps, ["admin"], tenant)).token;
});

/** Listens until the test is over. */
async function listen(token: string | undefined, query = "", headers: Record<string, string> = {}) {
  const response = await api.send("GET", `/v1/events${query}`, token, undefined, headers);
  if (!response.body) throw new Error("no body");
  const reader = response.body.getReader();
  onTestFinished(() => reader.cancel());
  const heard: LiveEvent[] = [];
  let text = "";
  const ended = (async () => {
    const decoder = new TextDecoder();
    for (let rest = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      const said = decoder.decode(value, { stream: true });
      text += said;
      const parts = (rest + said).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
        if (event) heard.push(liveEvent.parse({ event, data: JSON.parse(data ?? "") }));
      }
    }
  })();
  const counts = () => heard.flatMap(({ event, data }) => (event === "counts" ? [data] : []));
  return { response, heard, counts, ended, text: () => text };
}
/** And what a sweep does next: queues are listed from its figures. */
const submit = async (key: string, queue: string, token = mine) => {
  const response = await api.post(key, { type: "a", queue }, { authorization: `Bearer ${token}` });
  await foldAll(api.deps);
  return response;
};
const work = async (queue: string) => {
  const leased = await api.send("POST", `/v1/queues/${queue}/lease`, mine, { worker_id: "w" });
  const { jobs } = (await leased.json()) as { jobs: { job: { id: string }; lease_token: string }[] };
  const [held] = jobs;
  await api.send("POST", `/v1/jobs/${held?.job.id}/ack`, mine, { lease_token: held?.lease_token });
  return held?.job.id;
};

test("a listener hears of its tenant's queues, their changes, and which jobs finish", { tags: ["slow"] }, async () => {
  await submit("first", "mails");
  const { response, heard, counts } = await listen(mine);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  await eventually(() => expect(counts().at(-1)).toMatchObject({ counts: { queued: 1 } }));
  await eventually(() => expect(counts().flatMap(({ queues }) => queues)).toMatchObject([{ queue: "mails" }]));
  const before = counts().length;
  const id = await work("mails");
  await eventually(() =>
    expect(heard.flatMap(({ event, data }) => (event === "finished" ? data.items : []))).toMatchObject([
      { id, queue: "mails", type: "a", status: "succeeded" },
    ]),
  );
  await eventually(() => expect(counts().at(-1)).toMatchObject({ counts: { queued: 0, succeeded: 1 } }));
  // Nothing more is said while nothing changes.
  expect(counts().length - before).toBeLessThanOrEqual(3);
});

test("only the queues asked for are told, one without jobs as zeros, and never another tenant's", async () => {
  await submit("asked", "asked");
  const other = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
  await submit("theirs", "asked", other);
  await submit("theirs-2", "asked", other);
  const [us, them] = [await listen(mine, "?queues=asked,nothing"), await listen(other, "?queues=asked")];
  await eventually(() => expect(us.counts().flatMap(({ queues }) => queues)).toHaveLength(2));
  expect(us.counts()[0]?.queues.toSorted((a, b) => (a.queue < b.queue ? -1 : 1))).toMatchObject([
    { queue: "asked", counts: { queued: 1 } },
    { queue: "nothing", counts: { queued: 0, dead: 0 } },
  ]);
  await eventually(() => expect(them.counts()[0]).toMatchObject({ counts: { queued: 2, succeeded: 0 } }));
  const id = await work("asked");
  await eventually(() => expect(us.text()).toContain(id));
  expect(them.text()).not.toContain(id);
});

test("a page listens by its cookie alone, until it signs out", { tags: ["slow"] }, async () => {
  const { token } = await makeToken(api.deps, ["read"], tenant);
  const signed_in = await api.send("POST", "/v1/session", undefined, { token });
  const cookie = cookieOf(signed_in);
  const { response, heard, counts, ended } = await listen(undefined, "", cookie);
  expect(response.status).toBe(200);
  await submit("cookie", "by-cookie");
  await eventually(() =>
    expect(counts().flatMap(({ queues }) => queues)).toContainEqual(expect.objectContaining({ queue: "by-cookie" })),
  );
  const signed_out = await api.send("DELETE", "/v1/session", undefined, undefined, { ...cookie, ...own });
  expect(signed_out.status).toBe(200);
  api.clock.ms += 10_000;
  await ended;
  expect(heard.at(-1)).toEqual({ event: "end", data: { reason: "token_ended" } });
});

test("without a token or a cookie nobody listens, and another site's page may not read what a cookie lets in", async () => {
  expect((await api.send("GET", "/v1/events")).status).toBe(401);
  const { token } = await makeToken(api.deps, ["read"], tenant);
  const signed_in = await api.send("POST", "/v1/session", undefined, { token });
  const { response } = await listen(undefined, "", { ...cookieOf(signed_in), origin: "https://evil.example" });
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
});

test("a process takes a bounded number of listeners, and those who left make room", async () => {
  const { token } = await makeToken(api.deps, ["read"], tenant);
  const open: ReadableStream[] = [];
  let refused: Response | undefined;
  while (!refused && open.length < 500) {
    const response = await api.send("GET", "/v1/events", token);
    if (response.status === 200 && response.body) open.push(response.body);
    else refused = response;
  }
  expect([429, 503]).toContain(refused?.status);
  expect(refused?.headers.get("retry-after")).not.toBeNull();
  for (const body of open) await body.cancel();
  const { heard } = await listen(token);
  await eventually(() => expect(heard).not.toHaveLength(0));
});

test("a HEAD of events leaves no listener behind", async () => {
  const { token } = await makeToken(api.deps, ["read"], tenant);
  for (let n = 0; n < 250; n += 1) expect((await api.send("HEAD", "/v1/events", token)).status).toBe(200);
  const { heard } = await listen(token);
  await eventually(() => expect(heard).not.toHaveLength(0));
});

test("there is one question a second for all listeners, and none without listeners", { tags: ["slow"] }, async () => {
  const asked: string[] = [];
  const counting = await guardedApp();
  onTestFinished(() => counting.stop());
  const { sql } = counting.deps.database;
  const unsafe = sql.unsafe.bind(sql);
  sql.unsafe = ((text: string, ...rest: []) => {
    if (text.includes("followed")) asked.push(text);
    return unsafe(text, ...rest);
  }) as typeof sql.unsafe;
  const { token } = await makeToken(counting.deps, ["read"]);
  const began = performance.now();
  const listeners = await Promise.all(
    Array.from({ length: 20 }, async () => (await counting.send("GET", "/v1/events", token)).body),
  );
  await eventually(() => expect(asked.length).toBeGreaterThanOrEqual(2));
  expect(asked.length).toBeLessThanOrEqual(2 + (performance.now() - began) / 1_000);
  for (const body of listeners) await body?.cancel();
  const so_far = asked.length;
  // Long enough for a question, had there been one.
  await eventually(() => expect(performance.now() - began).toBeGreaterThan(4_000));
  expect(asked.length - so_far).toBeLessThanOrEqual(1);
});

test("when the server drains, listeners are told and let go", async () => {
  const draining = await guardedApp();
  const { token } = await makeToken(draining.deps, ["read"]);
  const response = await draining.send("GET", "/v1/events", token);
  draining.deps.liveEvents.close();
  expect(await response.text()).toContain('event: end\ndata: {"reason":"draining"}');
  const late = await draining.send("GET", "/v1/events", token);
  expect(await late.text()).toContain("draining");
  await draining.stop();
});

test("a reader that takes nothing is dropped, and what it left is not kept", async () => {
  let over = 0;
  const stream = createEventStream(() => (over += 1));
  const queues = Array.from({ length: 100 }, (_, at) => ({
    queue: `queue-${at}`.padEnd(100, "x"),
    counts: {},
  }));
  const big: LiveEventText = { event: "counts", data: JSON.stringify({ queues }) };
  for (let at = 0; at < 100 && over === 0; at += 1) stream.send(big);
  expect(over).toBe(1);
  stream.send(big);
  stream.end();
  expect(over).toBe(1);
  await expect(stream.body.getReader().read()).rejects.toThrow("too slow");
});

test("a reader is sent a comment now and then, so that a dead connection is noticed", async () => {
  const stream = createEventStream(() => {}, 5);
  const reader = stream.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(": still here\n\n")) text += decoder.decode((await reader.read()).value);
  expect(text.startsWith("retry: 3000\n\n")).toBe(true);
  await reader.cancel();
});
