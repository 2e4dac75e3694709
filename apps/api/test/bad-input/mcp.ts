import { post, refused, type Row, type Step } from "./row.ts";

const message = (method: string, params: string) => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
const call = (name: string, args: string) => message("tools/call", `{"name":"${name}","arguments":${args}}`);

/** A message that MCP itself refuses is answered, and its answer says why. */
const answered = (row: number, what: string, body: string, says: string, send = "/mcp"): Row => {
  const step: Step = { send: post(send, body), status: 200, says };
  return { row, what: `${what} to an assistant's tool`, v1: [step] };
};
const enqueue = (args: string) => call("enqueue_job", `{"idempotency_key":"bad","payload":{},${args}}`);
const nested = `${'{"a":'.repeat(100)}1${"}".repeat(100)}`;

/** What comes through `/mcp`: the message is held to what any body is, and a tool's arguments to what it takes. */
export const mcpRows: Row[] = [
  answered(1, "a job id that is none", call("get_job_status", '{"job_id":"not-a-uuid"}'), "must be a job's id"),
  answered(
    5,
    "a blank idempotency key",
    enqueue('"queue_name":"mcp","idempotency_key":" "').replace('"idempotency_key":"bad",', ""),
    "/idempotency_key must be",
  ),
  {
    row: 10,
    what: "a message over the limit",
    v1: [refused(post("/mcp", message("tools/list", `{"x":"${"x".repeat(1_048_576)}"}`)), "too_large")],
  },
  ...["null", "[]", '"x"', `[${message("tools/list", "{}")}]`].map((body): Row => ({
    row: 12,
    what: `the message ${body.slice(0, 20)}`,
    v1: [refused(post("/mcp", body), "validation", "must be a JSON object")],
  })),
  ...[String.raw`"\u0000"`, String.raw`"\ud800"`, "1e400", nested].map((value): Row => ({
    row: 14,
    what: `${value.slice(0, 20)} in a message`,
    v1: [refused(post("/mcp", call("enqueue_job", `{"payload":{"a":${value}}}`)), "validation")],
  })),
  {
    row: 19,
    what: "another version of JSON-RPC",
    v1: [refused(post("/mcp", '{"jsonrpc":"1.0","id":1,"method":"ping"}'), "validation", '/jsonrpc must be \\"2.0\\"')],
  },
  answered(19, "a field that it does not have", enqueue('"status":"dead"'), "/status is not a field"),
  answered(
    20,
    "a type of 129 characters",
    enqueue(`"type":"${"x".repeat(129)}"`),
    "/type must be a string of 1 to 128",
  ),
  answered(22, "26 attempts", enqueue('"max_retries":25'), "/max_retries must be an integer from 0 to 24"),
  answered(23, "a time that is none", enqueue('"run_at":"tomorrow"'), "/run_at must be an RFC 3339 time"),
  answered(
    25,
    "an empty batch",
    call("enqueue_job_batch", '{"jobs":[],"idempotency_key":"b"}'),
    "/jobs must be a list of 1",
  ),
  answered(
    26,
    "a lease of no seconds",
    call("lease_job", '{"lease_seconds":0}'),
    "/lease_seconds",
    "/mcp?toolsets=work",
  ),
  answered(28, "a limit of 0", call("list_jobs", '{"limit":0}'), "/limit must be an integer from 1 to 50; got 0"),
  answered(28, "a cursor that was made up", call("list_jobs", '{"cursor":"x"}'), "next_cursor"),
  ...(
    [
      [20, "get_job_status", "{}", "/job_id is required"],
      [5, "enqueue_job", '{"payload":{}}', "/idempotency_key is required"],
      [24, "enqueue_job", '{"payload":[],"idempotency_key":"a"}', "/payload must be a JSON object"],
      [24, "replay_dead", '{"dry_run":false}', "Call replay_dead with dry_run first"],
      [24, "replay_dead", '{"fingerprint":"x"}', "/fingerprint must be"],
      [24, "pause_queue", '{"queue_name":"../admin","idempotency_key":"a"}', "/queue_name must be"],
      [27, "ack_job", '{"job_id":"01920000-0000-7000-8000-000000000000","lease_token":"x"}', "/lease_token must be"],
      [28, "list_jobs", '{"status":"lost"}', "/status must be one of scheduled"],
      [28, "get_throughput", '{"window":"1y"}', "/window must be one of 15m"],
    ] as const
  ).map(([row, tool, args, says]) =>
    answered(row, `${args} as ${tool}`, call(tool, args), says, "/mcp?toolsets=read,operate,work"),
  ),
  {
    row: 28,
    what: "a toolset that there is not",
    v1: [refused(post("/mcp?toolsets=all", message("tools/list", "{}")), "validation", "read, operate, work")],
  },
];
