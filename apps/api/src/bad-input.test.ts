import { forFile } from "@atlasqueue/harness";
import { openQueueError, problem, problemType } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { faultsOfRequest } from "../test/against-document.ts";
import { bodyRows } from "../test/bad-input/bodies.ts";
import { fieldRows } from "../test/bad-input/fields.ts";
import { flowRows } from "../test/bad-input/flows.ts";
import { jobRows } from "../test/bad-input/jobs.ts";
import { listRows } from "../test/bad-input/lists.ts";
import { operationRows } from "../test/bad-input/operations.ts";
import { mcpRows } from "../test/bad-input/mcp.ts";
import { requestRows } from "../test/bad-input/requests.ts";
import { stepRows } from "../test/bad-input/steps.ts";
import { submit, submitOpenQueue, type Sent, type Step } from "../test/bad-input/row.ts";
import { overTheWire, parseAnswer, type Answered } from "../test/bad-input/wire.ts";
import { rawSocket } from "../test/raw-socket.ts";
import { serverOf, testApp } from "../test/test-app.ts";
import { operations } from "./routes.ts";

const api = forFile(testApp);
const server = serverOf(api, { headers_ms: 1_000, request_ms: 2_000, check_interval_ms: 100 });

// Each surface has its column; a row without one says why. Row 8, the same key of two tenants, is tried where tokens
// are: without them there is one tenant. The parts of row 10 that need control over the socket are in server.test.ts.
// Row 33 is about pages that show jobs, of which there are none.
const table = [
  ...operationRows(operations),
  ...requestRows,
  ...fieldRows,
  ...bodyRows,
  ...jobRows,
  ...listRows,
  ...flowRows,
  ...stepRows,
  ...mcpRows,
];
const cases = table.flatMap(({ row, what, v1, openqueue }) => [
  ...(v1 ? [{ row, what, surface: "/v1", steps: v1 }] : []),
  ...(openqueue ? [{ row, what, surface: "OpenQueue", steps: openqueue }] : []),
]);

test.each(cases)("row $row, $surface: $what", async ({ steps, surface }) => {
  let known = { id: "", token: "" };
  for (const step of steps) {
    const answered = await overTheWire(server.port, filled(step.send, known));
    hold(answered, { ...step, says: fill(step.says ?? "", known) });
    await isDocumented(filled(step.send, known), answered);
    if (answered.body === "") continue;
    if (step.status >= 400) expectError(answered, step, surface);
    else if (answered.headers.get("content-type") === "application/json") known = learned(answered.body, known);
  }
});

type Known = { id: string; token: string };

function fill(text: string, { id, token }: Known): string {
  return text.replaceAll("{id}", id).replaceAll("{token}", token);
}

function filled(sent: Sent, known: Known): Sent {
  const body = typeof sent.body === "string" ? { body: fill(sent.body, known) } : {};
  return { ...sent, target: fill(sent.target, known), ...body };
}

async function isDocumented({ method, target }: Sent, { status, headers, body }: Answered): Promise<void> {
  expect(await faultsOfRequest(method, target, new Response(body || null, { status, headers }))).toEqual([]);
}

function hold({ status, headers, body }: Answered, step: Step): void {
  expect(status, body.slice(0, 500)).toBe(step.status);
  expect(body).toContain(step.says);
  if (step.shows) expect(JSON.parse(body)).toMatchObject(step.shows);
  for (const [name, value] of Object.entries(step.headers ?? {})) expect(headers.get(name), name).toBe(value);
}

/** What every error of a surface looks like. */
function expectError({ headers, body }: Answered, step: Step, surface: string): void {
  expect(headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  if (surface === "OpenQueue") {
    expect(headers.get("content-type")).toBe("application/json");
    const { detail } = openQueueError.parse(JSON.parse(body));
    // A list where parts of the request are invalid, otherwise a sentence.
    expect(Array.isArray(detail) && detail.length > 0, body).toBe(step.problem === "validation");
    return;
  }
  if (step.rpc !== undefined) {
    expect(headers.get("content-type")).toBe("application/json");
    expect(JSON.parse(body)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: step.rpc } });
    return;
  }
  expect(headers.get("content-type")).toBe("application/problem+json");
  const parsed = problem.parse(JSON.parse(body));
  expect(parsed.instance).toBe(headers.get("x-request-id"));
  expect(parsed.status).toBe(step.status);
  if (step.problem) expect(parsed.type).toBe(problemType(step.problem));
}

/** The job and the token in an answer. */
function learned(body: string, known: Known): Known {
  const { id, job_id, job, jobs, lease_token } = (JSON.parse(body) ?? {}) as Record<string, unknown>;
  const [held] = (Array.isArray(jobs) ? jobs : []) as { job?: { id: string }; lease_token?: string }[];
  const found = id ?? job_id ?? (job as { id?: unknown } | undefined)?.id ?? held?.job?.id;
  const token = lease_token ?? held?.lease_token;
  return {
    id: typeof found === "string" ? found : known.id,
    token: typeof token === "string" ? token : known.token,
  };
}

const stalled = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;

test.each([
  // Until the path has arrived it belongs to neither surface.
  ["slow headers", "GET /health HTTP/1.1\r\nHost:", "application/problem+json"],
  ["a stalled body on /v1", stalled("/v1/jobs"), "application/problem+json"],
  ["a stalled body on OpenQueue's surface", stalled("/jobs"), "application/json"],
])("row 30: %s is 408, and the connection ends", async (_what, data, type) => {
  const socket = await rawSocket(server.port);
  socket.write(data);
  const { status, headers, body } = parseAnswer(await socket.answer);
  expect(status).toBe(408);
  expect(headers.get("content-type")).toBe(type);
  const format = type === "application/json" ? openQueueError : problem;
  expect(format.safeParse(JSON.parse(body)).error).toBeUndefined();
});

test("row 30: a client that connects and sends nothing is disconnected", async () => {
  const silent = await rawSocket(server.port);
  await silent.answer;
});

test("row 32: line ends and escape codes, wherever they come, stay in one log line", async () => {
  const before = api.logLines().length;
  const send = (sent: Sent) => overTheWire(server.port, sent);
  const { headers } = submit("");
  const answers = [
    await send(submit('{"type":"a"}', [...headers, "X-Request-ID: <a>[31mb"])),
    await send(submit('{"type":"a"}', [...headers, "X-Request-ID: a\u001b[31mb"])),
    await send({ method: "GET", target: "/v1/jobs/x%0d%0a%1b%5b31m", headers: ["X-Request-ID: given"] }),
    await send(submit(String.raw`{"type":"a\r\nb\u001b"}`)),
    await send(submitOpenQueue('{"payload":{}}', [...headers.slice(0, 1), "X-Request-ID: <a>[31mb"])),
    await send({ method: "GET", target: "/jobs/x%0d%0a%1b%5b31m", headers: [] }),
    await send(submitOpenQueue(String.raw`{"payload":{},"queue_name":"a\r\nb\u001b"}`)),
  ];
  // An escape code in a header is not HTTP, so that request is never logged.
  expect(answers.map(({ status }) => status)).toEqual([201, 400, 422, 422, 201, 422, 422]);
  const lines = api.logLines().slice(before);
  for (const line of lines) {
    expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(line).toMatch(/^\P{Cc}*$/u);
  }
  expect(lines.filter((line) => line.includes('"http_request"'))).toHaveLength(6);
});

test("the limits are the operator's", async () => {
  const small = await testApp({ body_bytes_max: 100, payload_bytes_max: 20 });
  expect((await small.post("1", `{"type":"a"${" ".repeat(100)}}`)).status).toBe(413);
  expect((await small.post("1", '{"type":"a","payload":{"x":"123456789012345"}}')).status).toBe(413);
  expect((await small.post("1", '{"type":"a","payload":{"x":1}}')).status).toBe(201);
  await small.stop();
});

test("no refused request left a job or burned a key", async () => {
  const { sql } = api.deps.database;
  expect(await sql`SELECT key FROM atlasqueue.idempotency_keys WHERE key IN ('type', 'gzip', 'long', 'none')`).toEqual(
    [],
  );
  expect(await sql`SELECT id FROM atlasqueue.jobs WHERE queue = 'batch'`).toEqual([]);
});

test("no row was answered with a 5xx, and the process is up", async () => {
  expect(api.events.filter((event) => event.event === "http_request" && event.status_code >= 500)).toEqual([]);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});
