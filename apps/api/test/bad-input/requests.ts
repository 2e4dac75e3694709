import { badBody, get, post, refused, submit, type Row } from "./row.ts";

const json = "Content-Type: application/json";
const key = (value: string) => `Idempotency-Key: ${value}`;
const job = '{"type":"a"}';
const nobody = "01920000-0000-7000-8000-000000000000";

const badId = (id: string): Row => ({
  row: 1,
  what: `the id ${id}`,
  v1: [refused(get(`/v1/jobs/${id}`), "validation", "path:id must be a UUID")],
});

const badPath = (target: string): Row => ({
  row: 2,
  what: `the path ${target}`,
  v1: [refused(get(target), "malformed_request")],
});

const noPath = (target: string): Row => ({
  row: 3,
  what: `the path ${target}`,
  v1: [refused(get(target), "not_found")],
});

const wrongMethod = (method: string, target: string, allow: string): Row => ({
  row: 4,
  what: `${method} ${target}`,
  v1: [{ ...refused(get(target, method), "method_not_allowed"), headers: { allow } }],
});

const badKey = (what: string, ...lines: string[]): Row => ({
  row: 5,
  what: `an Idempotency-Key ${what}`,
  v1: [refused(submit(job, [json, ...lines]), "validation", "header:Idempotency-Key")],
});

const typed = (type: string, status: 201 | 415): Row => ({
  row: 9,
  what: `Content-Type ${type}`,
  v1: [
    status === 201
      ? { send: submit(job, [`Content-Type: ${type}`, key(`type ${type}`)]), status }
      : refused(submit(job, [`Content-Type: ${type}`, key("type")]), "not_json"),
  ],
});

const padded = (bytes: number) => `{"type":"a","payload":{"x":"${"x".repeat(bytes - 8)}"}}`;

/** Rows 1 to 13: paths, methods, headers, and what is no JSON. */
export const requestRows: Row[] = [
  ...["not-a-uuid", "1", "01920000-0000-7000-8000-00000000000", "%20", "a%2Fb"].map(badId),
  ...["/v1/jobs/%00", "/v1/jobs/%zz", "/v1/jobs/%ff%fe", "/%ff%fe", "/v1/%zz", "/v1/jobs/a%"].map(badPath),
  ...["/v1/jobs/", "//v1/jobs", "/v1//jobs", "/V1/jobs", "/v1/Jobs", "/health/", "/", "/v1", "/nothing"].map(noPath),
  wrongMethod("DELETE", "/v1/jobs", "GET, HEAD, POST"),
  wrongMethod("HEAD", "/v1/leases/settle", "POST"),
  wrongMethod("OPTIONS", "/v1/leases/settle", "POST"),
  wrongMethod("GET", "/v1/queues/default/lease", "POST"),
  wrongMethod("DELETE", `/v1/jobs/${nobody}`, "GET, HEAD"),
  wrongMethod("POST", "/health", "GET, HEAD"),
  wrongMethod("PUT", "/metrics", "GET, HEAD"),
  badKey("that is missing"),
  badKey("that is empty", key("")),
  badKey("of blanks", key("   ")),
  badKey("of blanks in quotes", key('"  "')),
  badKey("of 513 characters", key("x".repeat(513))),
  badKey("that is not ASCII", key("cl\u00e9")),
  badKey("that is sent twice", key("twice"), key("twice")),
  {
    row: 5,
    what: "a missing key and a bad field, told together",
    v1: [
      refused(submit('{"type":"a","max_attempts":0}', [json]), "validation", "header:Idempotency-Key"),
      refused(submit('{"type":"a","max_attempts":0}', [json]), "validation", "/max_attempts"),
    ],
  },
  {
    row: 5,
    what: "a key with a comma, which is one key",
    v1: [{ send: submit(job, [json, key("one, two")]), status: 201 }],
  },
  {
    row: 6,
    what: "the same key and JSON, its own keys in another order",
    v1: [
      { send: submit('{"type":"a","payload":{"x":1,"y":{"b":2,"a":1}}}', [json, key("order")]), status: 201 },
      {
        send: submit('{"payload":{"y":{"a":1.0,"b":2},"x":1},"type":"a"}', [json, key("order")]),
        status: 200,
        headers: { "idempotency-replayed": "true" },
        says: "{id}",
      },
    ],
  },
  {
    row: 7,
    what: "the same key with another body",
    v1: [
      { send: submit(job, [json, key("mismatch")]), status: 201 },
      refused(submit('{"type":"b"}', [json, key("mismatch")]), "idempotency_mismatch"),
    ],
  },
  ...["text/plain", "application/x-www-form-urlencoded", "application/jsonp"].map((type) => typed(type, 415)),
  ...["application/json; charset=latin1", "application/json; charset=utf-16"].map((type) => typed(type, 415)),
  ...["application/json; charset=UTF-8", 'Application/JSON;charset="utf-8"', "application/json; profile=x"].map(
    (type) => typed(type, 201),
  ),
  { row: 9, what: "no Content-Type", v1: [refused(submit(job, [key("none")]), "not_json")] },
  {
    row: 9,
    what: "a compressed body",
    v1: [refused(submit(job, [json, key("gzip"), "Content-Encoding: gzip"]), "not_json")],
  },
  {
    row: 10,
    what: "a Content-Length over the limit, of a body that never comes",
    v1: [
      {
        ...refused(submit("{", [json, key("long"), "Content-Length: 99999999999"]), "too_large", "1048576"),
        headers: { connection: "close" },
      },
    ],
  },
  { row: 10, what: "a body over the limit", v1: [refused(submit(padded(1_048_576)), "too_large", "1048576")] },
  { row: 10, what: "a payload over its own limit", v1: [refused(submit(padded(262_145)), "too_large", '"/payload"')] },
  { row: 10, what: "a payload of exactly that size", v1: [{ send: submit(padded(262_144)), status: 201 }] },
  badBody(11, "", "malformed_json", "empty"),
  {
    row: 11,
    what: "no body at all",
    v1: [refused({ ...post("/v1/jobs", ""), headers: [] }, "malformed_json", "empty")],
  },
  badBody(11, '{"a":', "malformed_json", "JSON"),
  badBody(11, '{"type":"a",}', "malformed_json", "JSON"),
  badBody(11, `${job}${job}`, "malformed_json", "JSON"),
  badBody(11, "\ufeff\ufeff{}", "malformed_json", "JSON"),
  { row: 11, what: "one byte order mark, which RFC 8259 allows", v1: [{ send: submit(`\ufeff${job}`), status: 201 }] },
  ...["null", "[]", '"x"'].map((body) => badBody(12, body, "validation", "must be a JSON object")),
  {
    row: 13,
    what: "bytes that are not UTF-8",
    v1: [
      refused(
        submit(Buffer.concat([Buffer.from('{"type":"a'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])),
        "malformed_json",
        "UTF-8",
      ),
    ],
  },
];
