import { afterAll, beforeAll, expect, test } from "vitest";
import { problem, type ProblemKind, problemType, problems } from "@atlasqueue/contract";
import { testApp } from "../test/test-app.ts";

let api: Awaited<ReturnType<typeof testApp>>;
beforeAll(async () => {
  api = await testApp();
});
afterAll(() => api.stop());

async function expectProblem(response: Response, kind: ProblemKind): Promise<string> {
  const body: unknown = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(problems[kind].status);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const parsed = problem.parse(body);
  expect(parsed.type).toBe(problemType(kind));
  expect(parsed.instance).toBe(response.headers.get("x-request-id"));
  return JSON.stringify(parsed);
}

const job = '{"type":"a"}';
const deep = (levels: number) => `{"type":"a","payload":{"x":${"[".repeat(levels)}${"]".repeat(levels)}}}`;

const badBodies: [row: number, body: string, kind: ProblemKind, says: string][] = [
  [11, "", "malformed_json", "empty"],
  [11, '{"a":', "malformed_json", "JSON"],
  [11, '{"type":"a",}', "malformed_json", "JSON"],
  [11, `${job}${job}`, "malformed_json", "JSON"],
  [11, "\ufeff\ufeff{}", "malformed_json", "JSON"],
  [12, "null", "validation", "must be a JSON object"],
  [12, "[]", "validation", "must be a JSON object"],
  [12, '"x"', "validation", "must be a JSON object"],
  [14, String.raw`{"type":"a","payload":{"k":"\u0000"}}`, "validation", "NUL"],
  [14, String.raw`{"type":"a","payload":{"\u0000":1}}`, "validation", "NUL"],
  [14, String.raw`{"type":"\u0000"}`, "validation", "NUL"],
  [15, String.raw`{"type":"a","payload":{"k":"\ud800"}}`, "validation", "surrogate"],
  [15, String.raw`{"type":"a","payload":{"\udfff":1}}`, "validation", "surrogate"],
  [16, deep(5_000), "validation", "nest"],
  [16, deep(500_000), "validation", "nest"],
  [17, '{"type":"a","payload":{"n":1e400}}', "validation", "/payload/n"],
  [17, '{"type":"a","payload":{"n":9007199254740993}}', "validation", "2^53"],
  [18, '{"type":"a","__proto__":{"x":1}}', "validation", "/__proto__"],
  [18, '{"type":"a","backoff":{"kind":"fixed","base_seconds":1,"__proto__":{}}}', "validation", "/backoff/__proto__"],
  [19, '{"type":"a","colour":"red"}', "validation", "/colour"],
  [19, '{"type":"a","status":"dead"}', "validation", "/status"],
  [19, '{"type":"a","attempts":4}', "validation", "/attempts"],
  [19, '{"type":"a","tenant_id":"b"}', "validation", "/tenant_id"],
  [20, "{}", "validation", "/type is required"],
  [20, '{"type":""}', "validation", "/type"],
  [20, `{"type":"${"x".repeat(129)}"}`, "validation", "/type"],
  [20, String.raw`{"type":"a\r\nb"}`, "validation", "/type"],
  [20, String.raw`{"type":"\u001b[31m"}`, "validation", "/type"],
  [22, '{"type":"a","max_attempts":0}', "validation", "/max_attempts must be an integer from 1 to 25; got 0"],
  [22, '{"type":"a","max_attempts":26}', "validation", "got 26"],
  [22, '{"type":"a","max_attempts":1.5}', "validation", "got 1.5"],
  [22, '{"type":"a","max_attempts":"3"}', "validation", String.raw`got \"3\"`],
  [22, '{"type":"a","max_attempts":null}', "validation", "got null"],
  [23, '{"type":"a","run_at":"tomorrow"}', "validation", "RFC 3339"],
  [23, '{"type":"a","run_at":"infinity"}', "validation", "RFC 3339"],
  [23, '{"type":"a","run_at":"2026-02-30T00:00:00Z"}', "validation", "RFC 3339"],
  [23, '{"type":"a","run_at":"2026-02-03T00:00:00"}', "validation", "RFC 3339"],
  [23, '{"type":"a","run_at":"294277-01-01T00:00:00Z"}', "validation", "RFC 3339"],
  [23, '{"type":"a","run_at":"0000-01-01T00:00:00Z"}', "validation", "RFC 3339"],
  [23, '{"type":"a","run_at":"9999-12-31T23:59:59-01:00"}', "validation", "RFC 3339"],
  [23, '{"type":"a","run_at":1893456000}', "validation", "RFC 3339"],
  [24, '{"type":"a","priority":2147483648}', "validation", "/priority"],
  [24, '{"type":"a","delay_seconds":1e18}', "validation", "/delay_seconds"],
  [24, '{"type":"a","delay_seconds":-1}', "validation", "/delay_seconds"],
  [24, '{"type":"a","delay_seconds":1,"run_at":"2030-01-01T00:00:00Z"}', "validation", "together"],
  [24, '{"type":"a","queue":"a b"}', "validation", "/queue"],
  [24, '{"type":"a","payload":[]}', "validation", "/payload"],
];

test.each(badBodies)("row %i: the body %.60s is refused as %s", async (_row, body, kind, says) => {
  expect(await expectProblem(await api.post("bad", body), kind)).toContain(says);
});

test("row 13: bytes that are not UTF-8 are 400, and nothing is replaced", async () => {
  const body = Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
  await expectProblem(await api.post("utf-8", body), "malformed_json");
});

test("a byte order mark in front is accepted, as RFC 8259 allows", async () => {
  expect((await api.post("bom", `\ufeff${job}`)).status).toBe(201);
});

const goodBodies: [row: number, name: string, body: string][] = [
  [16, "nested 61 deep in the payload", deep(61)],
  [18, "__proto__ in the payload", '{"type":"a","payload":{"__proto__":{"x":1},"constructor":2}}'],
  [21, "type toString", '{"type":"toString"}'],
  [21, "type constructor", '{"type":"constructor"}'],
  [21, "type __proto__", '{"type":"__proto__"}'],
  [23, "an offset that PostgreSQL itself refuses", '{"type":"a","run_at":"2030-01-01T00:00:00+23:59"}'],
  [23, "a time long ago", '{"type":"a","run_at":"0001-01-02T00:00:00.123456789Z"}'],
  [23, "the last second", '{"type":"a","run_at":"9999-12-31T23:59:59Z"}'],
];

test.each(goodBodies)("row %i: %s is accepted, and kept as it is", async (_row, name, body) => {
  const created = await api.post(`good ${name}`, body);
  const text = await created.text();
  expect(created.status, text).toBe(201);
  const { payload, type } = JSON.parse(body) as { payload?: unknown; type: string };
  const read = await api.get(created.headers.get("location") ?? "");
  const stored = (await read.json()) as { payload: unknown; type: string };
  expect(JSON.stringify(stored.payload)).toBe(JSON.stringify(payload ?? {}));
  expect(stored.type).toBe(type);
});

test.each(["not-a-uuid", "1", "01920000-0000-7000-8000-00000000000", "%20", "a%2Fb"])(
  "row 1: the id %s is 422, and the answer says what an id is",
  async (id) => {
    const text = await expectProblem(await api.get(`/v1/jobs/${id}`), "validation");
    expect(text).toContain('"path:id"');
    expect(text).toContain("must be a UUID");
  },
);

test.each(["/v1/jobs/%00", "/v1/jobs/%zz", "/v1/jobs/%ff%fe", "/%ff%fe", "/v1/%zz", "/v1/jobs/a%"])(
  "row 2: the path %s is 400",
  async (path) => {
    await expectProblem(await api.get(path), "malformed_request");
  },
);

test.each(["/v1/jobs/", "//v1/jobs", "/v1//jobs", "/V1/jobs", "/v1/Jobs", "/health/", "/", "/v1", "/nothing"])(
  "row 3: the path %s is 404",
  async (path) => {
    await expectProblem(await api.get(path), "not_found");
  },
);

test.each([
  ["DELETE", "/v1/jobs", "GET, HEAD, POST"],
  ["HEAD", "/v1/leases/settle", "POST"],
  ["OPTIONS", "/v1/leases/settle", "POST"],
  ["DELETE", "/v1/jobs/01920000-0000-7000-8000-000000000000", "GET, HEAD"],
  ["POST", "/health", "GET, HEAD"],
  ["PUT", "/metrics", "GET, HEAD"],
])("row 4: %s %s is 405 and says %s is allowed", async (method, path, allow) => {
  const response = await api.app.request(`http://localhost${path}`, { method });
  expect(response.headers.get("allow")).toBe(allow);
  if (method === "HEAD") expect(response.status).toBe(405);
  else await expectProblem(response, "method_not_allowed");
});

test.each(["", "   ", '""', "x".repeat(513), "clé"])("row 5: the Idempotency-Key '%.20s' is 422", async (key) => {
  expect(await expectProblem(await api.post(key, job), "validation")).toContain("header:Idempotency-Key");
});

test("row 5: without Idempotency-Key it is 422, told together with what is wrong in the body", async () => {
  const response = await api.app.request("http://localhost/v1/jobs", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"type":"a","max_attempts":0}',
  });
  const text = await expectProblem(response, "validation");
  expect(text).toContain("header:Idempotency-Key");
  expect(text).toContain("/max_attempts");
});

test.each([
  ["text/plain", 415],
  ["application/x-www-form-urlencoded", 415],
  ["application/jsonp", 415],
  ["application/json; charset=latin1", 415],
  ["application/json; charset=utf-16", 415],
  ["application/json; charset=UTF-8", 201],
  ['Application/JSON;charset="utf-8"', 201],
  ["application/json; profile=x", 201],
])("row 9: Content-Type %s is %i", async (type, status) => {
  const response = await api.post(`type ${type}`, job, { "content-type": type });
  expect(response.status).toBe(status);
  if (status === 415) await expectProblem(response, "not_json");
});

test("row 9: a compressed body is 415", async () => {
  await expectProblem(await api.post("gzip", job, { "content-encoding": "gzip" }), "not_json");
});

test("row 10: a body over the limit is 413", async () => {
  const response = await api.post("long", `{"type":"a","payload":{"x":"${"x".repeat(1_048_576)}"}}`);
  expect(response.headers.get("connection")).toBe("close");
  expect(await expectProblem(response, "too_large")).toContain("1048576");
});

test("row 10: a payload over its own limit is 413 and named; one of exactly that size is accepted", async () => {
  const withPayload = (bytes: number) => `{"type":"a","payload":{"x":"${"x".repeat(bytes - 8)}"}}`;
  expect(await expectProblem(await api.post("large", withPayload(262_145)), "too_large")).toContain('"/payload"');
  expect((await api.post("large", withPayload(262_144))).status).toBe(201);
});

test("row 10: the limits are the operator's", async () => {
  const small = await testApp({ body_bytes_max: 100, payload_bytes_max: 20 });
  expect((await small.post("1", `{"type":"a"${" ".repeat(100)}}`)).status).toBe(413);
  expect((await small.post("1", '{"type":"a","payload":{"x":"123456789012345"}}')).status).toBe(413);
  expect((await small.post("1", '{"type":"a","payload":{"x":1}}')).status).toBe(201);
  await small.stop();
});

test.each([
  "/v1/jobs/01920000-0000-7000-8000-000000000000?wait=1",
  "/v1/jobs/01920000-0000-7000-8000-000000000000?a&b",
])("an unknown query parameter is 422: %s", async (path) => {
  expect(await expectProblem(await api.get(path), "validation")).toContain("query:");
});

test("row 32: line ends and escape codes, wherever they come, stay in one log line", async () => {
  const before = api.logLines().length;
  await api.post("crlf", { type: "a" }, { "x-request-id": "a\u001b[31mb" });
  await api.get("/v1/jobs/x%0d%0a%1b%5b31m", { "x-request-id": "given" });
  await api.post("crlf-2", '{"type":"a\\r\\nb\\u001b"}');
  const lines = api.logLines().slice(before);
  for (const line of lines) {
    expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(line).toMatch(/^\P{Cc}*$/u);
  }
  expect(lines.filter((line) => line.includes('"http_request"'))).toHaveLength(3);
});

test("no refused request left a job, burned a key or was answered with a 5xx", async () => {
  const { sql } = api.deps.database;
  expect(await sql`SELECT key FROM idempotency_keys WHERE key IN ('bad', 'utf-8', 'gzip', 'long')`).toEqual([]);
  expect(api.events.filter((event) => event.event === "http_request" && event.status_code >= 500)).toEqual([]);
});
