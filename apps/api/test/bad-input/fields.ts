import { badBody, goodBody, loc, type Row } from "./row.ts";

const deep = (levels: number) => `{"type":"a","payload":{"x":${"[".repeat(levels)}${"]".repeat(levels)}}}`;

/** The same wrong name, of the one thing that has a name on OpenQueue's surface: a job's type is always the same there. */
const queueNamed = (name: string) => ({
  body: `{"payload":{},"queue_name":${name}}`,
  says: loc("body", "queue_name"),
});

/** OpenQueue counts the retries, which are one less than the attempts. */
const retries = (value: string, says: string) => ({ body: `{"payload":{},"max_retries":${value}}`, says });

/** Rows 14 to 24: what JSON allows and a job does not. */
export const fieldRows: Row[] = [
  badBody(14, String.raw`{"type":"a","payload":{"k":"\u0000"}}`, "validation", "NUL"),
  badBody(14, String.raw`{"type":"a","payload":{"\u0000":1}}`, "validation", "NUL"),
  badBody(14, String.raw`{"type":"\u0000"}`, "validation", "NUL", queueNamed(String.raw`"\u0000"`)),
  badBody(15, String.raw`{"type":"a","payload":{"k":"\ud800"}}`, "validation", "surrogate"),
  badBody(15, String.raw`{"type":"a","payload":{"\udfff":1}}`, "validation", "surrogate"),
  badBody(16, deep(5_000), "validation", "nest"),
  badBody(16, deep(500_000), "validation", "nest"),
  goodBody(16, "JSON nested 61 deep in the payload", deep(61)),
  badBody(17, '{"type":"a","payload":{"n":1e400}}', "validation", "/payload/n"),
  badBody(17, '{"type":"a","payload":{"n":9007199254740993}}', "validation", "2^53"),
  badBody(18, '{"type":"a","__proto__":{"x":1}}', "validation", "/__proto__"),
  badBody(
    18,
    '{"type":"a","backoff":{"kind":"fixed","base_seconds":1,"__proto__":{}}}',
    "validation",
    "/backoff/__proto__",
    // The payload is the only object in a job there, and it is data.
    "none",
  ),
  goodBody(18, "__proto__ in the payload", '{"type":"a","payload":{"__proto__":{"x":1},"constructor":2}}'),
  badBody(19, '{"type":"a","colour":"red"}', "validation", "/colour"),
  badBody(19, '{"type":"a","status":"dead"}', "validation", "/status"),
  badBody(19, '{"type":"a","attempts":4}', "validation", "/attempts"),
  badBody(19, '{"type":"a","tenant_id":"b"}', "validation", "/tenant_id"),
  badBody(20, "{}", "validation", "/type is required", { says: loc("body", "payload") }),
  badBody(20, '{"type":""}', "validation", "/type", queueNamed('""')),
  badBody(20, `{"type":"${"x".repeat(129)}"}`, "validation", "/type", queueNamed(`"${"x".repeat(129)}"`)),
  badBody(20, String.raw`{"type":"a\r\nb"}`, "validation", "/type", queueNamed(String.raw`"a\r\nb"`)),
  badBody(20, String.raw`{"type":"\u001b[31m"}`, "validation", "/type", queueNamed(String.raw`"\u001b[31m"`)),
  badBody(20, String.raw`{"type":"a\u202egnp.exe"}`, "validation", "/type", queueNamed(String.raw`"a\u202eb"`)),
  badBody(20, String.raw`{"type":"a\u2028b"}`, "validation", "/type", queueNamed(String.raw`"a\u2028b"`)),
  badBody(20, String.raw`{"type":"a","group":"\u2066b"}`, "validation", "/group", "none"),
  // That the worker then says "no handler" is tried with workers, in packages/worker. OpenQueue's jobs have no types.
  ...["toString", "constructor", "__proto__"].map((type) => goodBody(21, `type ${type}`, `{"type":"${type}"}`, "none")),
  badBody(
    22,
    '{"type":"a","max_attempts":0}',
    "validation",
    "/max_attempts must be an integer from 1 to 25; got 0",
    retries("-1", "must be an integer from 0 to 24; got -1"),
  ),
  badBody(22, '{"type":"a","max_attempts":26}', "validation", "got 26", retries("25", "got 25")),
  badBody(22, '{"type":"a","max_attempts":1.5}', "validation", "got 1.5", retries("1.5", "got 1.5")),
  badBody(
    22,
    '{"type":"a","max_attempts":"3"}',
    "validation",
    String.raw`got \"3\"`,
    retries('"3"', String.raw`got \"3\"`),
  ),
  badBody(22, '{"type":"a","max_attempts":null}', "validation", "got null", retries("null", "got null")),
  ...["0", "-1", "1.5", '"60"', "31536001", "null"].map((time) =>
    badBody(22, `{"type":"a","expires_in":${time}}`, "validation", "/expires_in must be an integer of seconds", "none"),
  ),
  ...["[]", '"a"', '["a b"]', '[""]', '["a",7]', '["a","a"]', "null", '["1","2","3","4","5","6","7","8","9"]'].map(
    (tags) => badBody(24, `{"type":"a","tags":${tags}}`, "validation", "/tags", "none"),
  ),
  goodBody(24, "eight tags", '{"type":"a","tags":["1","2","3","4","5","6","7","null"]}', "none"),
  ...[
    '"tomorrow"',
    '"infinity"',
    '"2026-02-30T00:00:00Z"',
    '"2026-02-03T00:00:00"',
    '"294277-01-01T00:00:00Z"',
    '"0000-01-01T00:00:00Z"',
    '"0001-01-01T00:00:00+00:01"',
    '"9999-12-31T23:59:59-01:00"',
    "1893456000",
  ].map((time) => badBody(23, `{"type":"a","run_at":${time}}`, "validation", "RFC 3339")),
  goodBody(23, "an offset that PostgreSQL itself refuses", '{"type":"a","run_at":"2030-01-01T00:00:00+23:59"}'),
  goodBody(23, "a time long ago", '{"type":"a","run_at":"0001-01-02T00:00:00.123456789Z"}'),
  goodBody(23, "the last second", '{"type":"a","run_at":"9999-12-31T23:59:59Z"}'),
  badBody(24, '{"type":"a","priority":2147483648}', "validation", "/priority"),
  // There is no delay_seconds there: that it is an unknown field is row 19.
  badBody(24, '{"type":"a","delay_seconds":1e18}', "validation", "/delay_seconds", "none"),
  badBody(24, '{"type":"a","delay_seconds":-1}', "validation", "/delay_seconds", "none"),
  badBody(24, '{"type":"a","delay_seconds":1,"run_at":"2030-01-01T00:00:00Z"}', "validation", "together", "none"),
  badBody(
    24,
    '{"type":"a","retention_seconds":0}',
    "validation",
    "/retention_seconds must be an integer of seconds from 1 to 315360000; got 0",
    "none",
  ),
  badBody(24, '{"type":"a","retention_seconds":315360001}', "validation", "/retention_seconds", "none"),
  badBody(24, '{"type":"a","result_ttl_seconds":1.5}', "validation", "/result_ttl_seconds", "none"),
  badBody(24, '{"type":"a","result_ttl_seconds":null}', "validation", "/result_ttl_seconds", "none"),
  badBody(24, '{"type":"a","queue":"a b"}', "validation", "/queue", queueNamed('"a b"')),
  badBody(24, '{"type":"a","payload":[]}', "validation", "/payload"),
];
