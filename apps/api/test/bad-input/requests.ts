import type { ProblemKind } from "@atlasqueue/contract";
import { badBody, get, loc, inOpenQueue, post, refused, submit, submitOpenQueue, type Row } from "./row.ts";

const json = "Content-Type: application/json";
const key = (value: string) => `Idempotency-Key: ${value}`;
const job = '{"type":"a"}';
const openQueueJob = inOpenQueue(job);
const nobody = "01920000-0000-7000-8000-000000000000";

const badId = (id: string): Row => ({
  row: 1,
  what: `the id ${id}`,
  v1: [refused(get(`/v1/jobs/${id}`), "validation", "path:id must be a UUID")],
  openqueue: [
    refused(get(`/jobs/${id}`), "validation", loc("path", "id")),
    refused(get(`/jobs/${id}/detail`), "validation", loc("path", "id")),
    refused(post(`/jobs/${id}/ack`, '{"lease_token":"x"}'), "validation", loc("path", "id")),
  ],
});

/** Paths are of OpenQueue's surface by their first segment; what it is not in is told as on /v1. */
const onItsSurface = (row: number, target: string, problem: ProblemKind): Row => {
  const steps = [refused(get(target), problem)];
  const openQueues = /^\/(jobs|queues|dashboard|admin)(\/|$)/.test(target);
  return { row, what: `the path ${target}`, ...(openQueues ? { openqueue: steps } : { v1: steps }) };
};
const badPath = (target: string) => onItsSurface(2, target, "malformed_request");
const noPath = (target: string) => onItsSurface(3, target, "not_found");

const wrongMethod = (method: string, target: string, allow: string): Row => ({
  row: 4,
  what: `${method} ${target}`,
  v1: [{ ...refused(get(target, method), "method_not_allowed"), headers: { allow } }],
});

const wrongMethodOpenQueue = (method: string, target: string, allow: string): Row => {
  const { v1, ...row } = wrongMethod(method, target, allow);
  return { ...row, ...(v1 && { openqueue: v1 }) };
};

const badKey = (what: string, ...lines: string[]): Row => ({
  row: 5,
  what: `an Idempotency-Key ${what}`,
  v1: [refused(submit(job, [json, ...lines]), "validation", "header:Idempotency-Key")],
  // Nobody needs one there, but one that was sent must be one, for a batch as well.
  openqueue:
    lines.length === 0
      ? [{ send: submitOpenQueue(openQueueJob), status: 201 }]
      : ["/jobs", "/jobs/batch"].map((target) => {
          const body = target === "/jobs" ? openQueueJob : `{"jobs":[${openQueueJob}]}`;
          return refused(post(target, body, [json, ...lines]), "validation", loc("header", "Idempotency-Key"));
        }),
});

const typed = (type: string, status: 201 | 415): Row => {
  const headers = [`Content-Type: ${type}`, key("type")];
  const taken = (surface: string) => [`Content-Type: ${type}`, key(`${surface} type ${type}`)];
  return {
    row: 9,
    what: `Content-Type ${type}`,
    v1: [status === 201 ? { send: submit(job, taken("v1")), status } : refused(submit(job, headers), "not_json")],
    openqueue: [
      status === 201
        ? { send: submitOpenQueue(openQueueJob, taken("OpenQueue")), status }
        : refused(submitOpenQueue(openQueueJob, headers), "not_json"),
    ],
  };
};

const padded = (bytes: number) => `{"type":"a","payload":{"x":"${"x".repeat(bytes - 8)}"}}`;
const paddedOpenQueue = (bytes: number) => inOpenQueue(padded(bytes));
const notUtf8 = (before: string, after: string) =>
  Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28]), Buffer.from(after)]);

/** Rows 1 to 13: paths, methods, headers, and what is no JSON. */
export const requestRows: Row[] = [
  ...["not-a-uuid", "1", "01920000-0000-7000-8000-00000000000", "%20", "a%2Fb"].map(badId),
  ...["/v1/jobs/%00", "/v1/jobs/%zz", "/v1/jobs/%ff%fe", "/%ff%fe", "/v1/%zz", "/v1/jobs/a%"].map(badPath),
  ...["/jobs/%00", "/jobs/%zz/detail", "/jobs/%ff%fe", "/queues/%00/lease", "/dashboard/a%"].map(badPath),
  ...["/v1/jobs/", "//v1/jobs", "/v1//jobs", "/V1/jobs", "/v1/Jobs", "/health/", "/", "/v1", "/jobless"].map(noPath),
  // Another case in the first segment is another path, which is of no surface.
  ...["/jobs/", "//jobs", "/jobs//detail", "/Jobs", "/jobs/batch/", "/queues", "/queues/default/Lease"].map(noPath),
  ...["/dashboard", "/dashboard/queues/", "/admin"].map(noPath),
  wrongMethod("DELETE", "/v1/jobs", "GET, HEAD, POST"),
  wrongMethod("HEAD", "/v1/leases/settle", "POST"),
  wrongMethod("OPTIONS", "/v1/leases/settle", "POST"),
  wrongMethod("GET", "/v1/queues/default/lease", "POST"),
  wrongMethod("PUT", `/v1/jobs/${nobody}`, "DELETE, GET, HEAD"),
  wrongMethod("POST", "/health", "GET, HEAD"),
  wrongMethod("PUT", "/metrics", "GET, HEAD"),
  wrongMethodOpenQueue("DELETE", "/jobs", "GET, HEAD, POST"),
  wrongMethodOpenQueue("HEAD", "/queues/default/lease", "POST"),
  wrongMethodOpenQueue("OPTIONS", `/jobs/${nobody}/ack`, "POST"),
  wrongMethodOpenQueue("GET", `/jobs/${nobody}/cancel`, "POST"),
  wrongMethodOpenQueue("DELETE", `/jobs/${nobody}`, "GET, HEAD"),
  wrongMethodOpenQueue("POST", "/dashboard/queues", "GET, HEAD"),
  wrongMethodOpenQueue("GET", "/admin/provision", "POST"),
  badKey("that is missing"),
  badKey("that is empty", key("")),
  badKey("of blanks", key("   ")),
  badKey("of blanks in quotes", key('"  "')),
  badKey("of 513 characters", key("x".repeat(513))),
  badKey("of a schedule's slot", key("schedule:nightly:2030-01-31T02:30:00.000Z")),
  badKey("of a schedule's slot, quoted", key('"schedule:nightly:2030-01-31T02:30:00.000Z"')),
  badKey("that is not ASCII", key("cl\u00e9")),
  badKey("that is sent twice", key("twice"), key("twice")),
  // A key that is missing is no fault on OpenQueue's surface.
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
    openqueue: [{ send: submitOpenQueue(openQueueJob, [json, key("three, four")]), status: 201 }],
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
    openqueue: [
      { send: submitOpenQueue('{"payload":{"x":1,"y":{"b":2,"a":1}}}', [json, key("order there")]), status: 201 },
      {
        send: submitOpenQueue('{"priority":0,"payload":{"y":{"a":1.0,"b":2},"x":1}}', [json, key("order there")]),
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
      ...[
        '{"type":"b"}',
        '{"type":"a","payload":{"x":1}}',
        '{"type":"a","priority":1}',
        '{"type":"a","queue":"b"}',
      ].map((body) => refused(submit(body, [json, key("mismatch")]), "idempotency_mismatch")),
      { send: submit(job, [json, key("mismatch")]), status: 200, says: "{id}" },
    ],
    // Keys are of the tenant, not of the surface.
    openqueue: [
      { send: submitOpenQueue(openQueueJob, [json, key("mismatch there")]), status: 201 },
      refused(submitOpenQueue('{"payload":{"x":1}}', [json, key("mismatch there")]), "idempotency_mismatch"),
      refused(submitOpenQueue(openQueueJob, [json, key("mismatch")]), "idempotency_mismatch"),
    ],
  },
  ...["text/plain", "application/x-www-form-urlencoded", "application/jsonp"].map((type) => typed(type, 415)),
  ...["application/json; charset=latin1", "application/json; charset=utf-16"].map((type) => typed(type, 415)),
  ...["application/json; charset=UTF-8", 'Application/JSON;charset="utf-8"', "application/json; profile=x"].map(
    (type) => typed(type, 201),
  ),
  {
    row: 9,
    what: "no Content-Type",
    v1: [refused(submit(job, [key("none")]), "not_json")],
    openqueue: [refused(submitOpenQueue(openQueueJob, [key("none")]), "not_json")],
  },
  {
    row: 9,
    what: "a compressed body",
    v1: [refused(submit(job, [json, key("gzip"), "Content-Encoding: gzip"]), "not_json")],
    openqueue: [refused(submitOpenQueue(openQueueJob, [json, key("gzip"), "Content-Encoding: gzip"]), "not_json")],
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
    openqueue: [
      {
        ...refused(submitOpenQueue("{", [json, key("long"), "Content-Length: 99999999999"]), "too_large", "1048576"),
        headers: { connection: "close" },
      },
    ],
  },
  {
    row: 10,
    what: "a body over the limit",
    v1: [refused(submit(padded(1_048_576)), "too_large", "1048576")],
    openqueue: [refused(submitOpenQueue(paddedOpenQueue(1_048_576)), "too_large", "1048576")],
  },
  {
    row: 10,
    what: "a payload over its own limit",
    v1: [refused(submit(padded(262_145)), "too_large", '"/payload"')],
    openqueue: [refused(submitOpenQueue(paddedOpenQueue(262_145)), "too_large", "/payload may have 262144 bytes")],
  },
  {
    row: 10,
    what: "a payload of exactly that size",
    v1: [{ send: submit(padded(262_144)), status: 201 }],
    openqueue: [{ send: submitOpenQueue(paddedOpenQueue(262_144)), status: 201 }],
  },
  badBody(11, "", "malformed_json", "empty"),
  {
    row: 11,
    what: "no body at all",
    v1: [refused(post("/v1/jobs", "", []), "malformed_json", "empty")],
    openqueue: [refused(post("/jobs", "", []), "malformed_json", "empty")],
  },
  badBody(11, '{"a":', "malformed_json", "JSON"),
  badBody(11, '{"type":"a",}', "malformed_json", "JSON"),
  badBody(11, `${job}${job}`, "malformed_json", "JSON"),
  badBody(11, "\ufeff\ufeff{}", "malformed_json", "JSON"),
  {
    row: 11,
    what: "one byte order mark, which RFC 8259 allows",
    v1: [{ send: submit(`\ufeff${job}`), status: 201 }],
    openqueue: [{ send: submitOpenQueue(`\ufeff${openQueueJob}`), status: 201 }],
  },
  ...["null", "[]", '"x"'].map((body) => badBody(12, body, "validation", "must be a JSON object")),
  {
    row: 13,
    what: "bytes that are not UTF-8",
    v1: [refused(submit(notUtf8('{"type":"a', '"}')), "malformed_json", "UTF-8")],
    openqueue: [refused(submitOpenQueue(notUtf8('{"payload":{"a":"', '"}}')), "malformed_json", "UTF-8")],
  },
];
