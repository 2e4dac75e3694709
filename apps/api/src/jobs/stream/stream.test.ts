import { expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { jobLine, lineClient } from "../../../test/line-client.ts";
import { serverOf, testApp } from "../../../test/test-app.ts";

const api = forFile(testApp);
const server = serverOf(api);

/** All at once, with the answers to all of it. */
async function answersTo(text: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/v1/jobs/stream`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", ...headers },
    body: text,
  });
  const said = await response.text();
  const lines = said.split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("each line is answered in order, and the last line says how many were", async () => {
  const answers = await answersTo(jobLine("order-1") + jobLine("order-2", { delay_seconds: 60 }));
  expect(answers).toEqual([
    { line: 1, id: expect.any(String), status: "queued", outcome: "created" },
    { line: 2, id: expect.any(String), status: "scheduled", outcome: "created" },
    { end: "complete", answered: 2 },
  ]);
  const shown = await api.get(`/v1/jobs/${String(answers[1]?.["id"])}`);
  expect(await shown.json()).toMatchObject({ type: "a", status: "scheduled" });
});

test("the same lines again are replayed, with the same ids", async () => {
  const lines = [1, 2, 3].map((at) => jobLine(`again-${at}`)).join("");
  const first = await answersTo(lines);
  const again = await answersTo(lines + jobLine("again-4"));
  expect(again.map(({ outcome }) => outcome)).toEqual(["replayed", "replayed", "replayed", "created", undefined]);
  expect(again.slice(0, 3).map(({ id }) => id)).toEqual(first.slice(0, 3).map(({ id }) => id));
});

test("an answer comes before the next line is sent, and before the body ends", async () => {
  const client = (await lineClient(server.port)).read();
  expect(client.status).toBe(200);
  expect(client.headers["content-type"]).toBe("application/x-ndjson");
  for (const at of [1, 2, 3]) {
    await client.send(jobLine(`ping-${at}`));
    await eventually(() => expect(client.last()).toMatchObject({ line: at, outcome: "created" }));
  }
  client.end();
  await client.closed;
  expect(client.last()).toEqual({ end: "complete", answered: 3 });
});

const refusals: [what: string, line: string, type: string, says: string][] = [
  ["a job without a key", '{"type":"a"}', "validation", "/idempotency_key is required"],
  ["a field of a flow", '{"type":"a","idempotency_key":"r","ref":"x"}', "validation", "/ref is not a field"],
  [
    "a payload that is too large",
    JSON.stringify({ type: "a", idempotency_key: "r", payload: { x: "x".repeat(262_144) } }),
    "too-large",
    "/payload",
  ],
];

test.each(refusals)("%s is refused by itself, between lines that are taken", async (what, line, type, says) => {
  const [before, refused, after, last] = await answersTo(`${jobLine(`${what} 1`)}${line}\n${jobLine(`${what} 2`)}`);
  expect([before?.["outcome"], after?.["outcome"]]).toEqual(["created", "created"]);
  expect(refused).toMatchObject({ line: 2, error: { type: `/problems/${type}` } });
  expect(refused).not.toHaveProperty("error.instance");
  expect(JSON.stringify(refused)).toContain(says);
  expect(last).toEqual({ end: "complete", answered: 3 });
});

test("bytes that are no UTF-8 are refused by themselves", async () => {
  const client = (await lineClient(server.port)).read();
  await client.send(jobLine("utf-1"));
  await client.send(Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xff]), Buffer.from('"}\n')]));
  await client.send(jobLine("utf-2"));
  client.end();
  await client.closed;
  expect(client.answers()).toMatchObject([{ line: 1 }, { line: 2, error: { status: 400 } }, { line: 3 }, {}]);
});

test("a key of another job, and a unique key that is held, refuse their lines alone", async () => {
  const unique = { key: "held", on_conflict: "reject" };
  const answers = await answersTo(
    [
      jobLine("mine", { payload: { x: 1 } }),
      jobLine("mine", { payload: { x: 2 } }),
      jobLine("mine", { payload: { x: 1 } }),
      jobLine("u1", { unique }),
      jobLine("u2", { unique }),
      jobLine("u3", { unique: { key: "held" } }),
    ].join(""),
  );
  expect(answers.map(({ outcome }) => outcome)).toEqual([
    "created",
    undefined,
    "replayed",
    "created",
    undefined,
    "existing",
    undefined,
  ]);
  expect(answers[1]).toMatchObject({ error: { type: "/problems/idempotency-mismatch", status: 422 } });
  expect(answers[4]).toMatchObject({ error: { type: "/problems/unique-conflict", status: 409 } });
});

test("blank lines are skipped and counted, line ends may be those of Windows, and the last may have none", async () => {
  const lines = `\n${jobLine("blank-1").trim()}\r\n \t\r\n${jobLine("blank-2").trim()}`;
  expect(await answersTo(lines)).toMatchObject([{ line: 2 }, { line: 4 }, { end: "complete", answered: 2 }]);
  expect(await answersTo("\n\n")).toEqual([{ end: "complete", answered: 0 }]);
});

test("a line that is too long ends the stream, after the answers to those before it", async () => {
  const long = jobLine("long", { payload: { x: "x".repeat(400_000) } });
  const answers = await answersTo(jobLine("long-1") + long + jobLine("long-2"));
  expect(answers).toMatchObject([
    { line: 1, outcome: "created" },
    { end: "failed", answered: 1, error: { type: "/problems/too-large", detail: expect.stringContaining("Line 2") } },
  ]);
});

test("jobs of a group run in the order of the lines, however they are batched", async () => {
  const lines = Array.from({ length: 1_200 }, (_, at) =>
    jobLine(`group-${at}`, { queue: "grouped", ...(at % 7 === 0 ? {} : { group: "g" }), payload: { at } }),
  );
  const client = (await lineClient(server.port)).read();
  for (let from = 0; from < lines.length; from += 100) await client.send(lines.slice(from, from + 100).join(""));
  client.end();
  await client.closed;
  expect(client.last()).toEqual({ end: "complete", answered: 1_200 });
  const { sql } = api.deps.database;
  const rows = await sql`
    SELECT payload->>'at' AS at FROM atlasqueue.jobs WHERE queue = 'grouped' AND group_key = 'g' ORDER BY group_seq NULLS FIRST`;
  const order = rows.map(({ at }) => Number(at));
  expect(order).toHaveLength(1_200 - 172);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

test("a stream has a type of its own, and no coding", async () => {
  const send = (headers: Record<string, string>) =>
    fetch(`${server.url}/v1/jobs/stream`, { method: "POST", headers, body: jobLine("type") });
  for (const headers of [
    { "content-type": "text/plain" },
    { "content-type": "application/x-ndjson; charset=latin1" },
    { "content-type": "application/x-ndjson", "content-encoding": "gzip" },
  ]) {
    const response = await send(headers as Record<string, string>);
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ type: "/problems/not-lines" });
  }
  expect((await send({ "content-type": "application/jsonl" })).status).toBe(200);
});
