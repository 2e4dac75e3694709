import { problems, type ProblemKind } from "@atlasqueue/contract";

/** What goes over the wire, as no real client would send it. */
export type Sent = {
  method: string;
  target: string;
  /** Lines of `Name: value`; Content-Length is added unless the body's size is said otherwise. */
  headers: string[];
  body?: string | Uint8Array;
};

/** One request and its answer. `{id}` and `{token}` stand for what earlier steps were answered. */
export type Step = {
  send: Sent;
  status: number;
  /** Which problem it is; OpenQueue's errors only show this for one with a list of faults. */
  problem?: ProblemKind;
  /** It is an error of JSON-RPC with this code. */
  rpc?: number;
  /** A part of the answer's text. */
  says?: string;
  /** Parts of the answer's JSON. */
  shows?: object;
  /** Headers of the answer. */
  headers?: Record<string, string>;
};

/** A line of bad-input.md: what is sent and what each surface answers, the last step being the point of it. */
export type Row = { row: number; what: string; v1?: Step[]; openqueue?: Step[] };

const json = "Content-Type: application/json";
let keys = 0;
const freshKey = () => `Idempotency-Key: bad-input-${(keys += 1)}`;

/** A submission as it should be, but for the body. */
export function submit(body: string | Uint8Array, headers: string[] = [json, freshKey()]): Sent {
  return { method: "POST", target: "/v1/jobs", headers, body };
}

/** The same on OpenQueue's surface, where nobody needs a key. */
export function submitOpenQueue(body: string | Uint8Array, headers: string[] = [json]): Sent {
  return { method: "POST", target: "/jobs", headers, body };
}

export function post(target: string, body: string, headers: string[] = [json]): Sent {
  return { method: "POST", target, headers, body };
}

export function put(target: string, body: string): Sent {
  return { method: "PUT", target, headers: [json], body };
}

export function get(target: string, method = "GET"): Sent {
  return { method, target, headers: [] };
}

/** A job of a queue of its own, under a lease. */
export const leased = (queue: string): Step[] => [
  { send: submit(`{"type":"a","queue":"${queue}"}`), status: 201 },
  { send: post(`/v1/queues/${queue}/lease`, '{"worker_id":"w"}'), status: 200, says: "{id}" },
];

/** What is wrong with a message to MCP is answered as JSON-RPC says. */
const rpcCodes: { [kind in ProblemKind]?: number } = { malformed_json: -32_700, validation: -32_600 };

/** It is refused with this problem. */
export function refused(send: Sent, problem: ProblemKind, says = ""): Step {
  const rpc = send.target === "/mcp" ? rpcCodes[problem] : undefined;
  if (rpc !== undefined) return { send, status: 400, rpc, says };
  return { send, status: problems[problem].status, problem, says };
}

/** How OpenQueue's errors name a place: `loc("body", "jobs", 0)`. */
export function loc(...path: (string | number)[]): string {
  return `"loc":${JSON.stringify(path)}`;
}

/** What OpenQueue's surface makes of it: `none` where it has no such field. The rest is as on /v1 unless it is said. */
type OnOpenQueue = "none" | { body?: string; says?: string };

/** A submission that is refused for its body. */
export function badBody(
  row: number,
  body: string,
  problem: ProblemKind,
  says: string,
  openqueue: OnOpenQueue = {},
): Row {
  const v1 = [refused(submit(body), problem, says)];
  const what = `the body ${body.slice(0, 70)}`;
  if (openqueue === "none") return { row, what, v1 };
  // A pointer such as /payload/n, and nothing else.
  const there = /^\/\S+$/.test(says) ? loc("body", ...says.split("/").slice(1)) : says;
  const sent = submitOpenQueue(openqueue.body ?? inOpenQueue(body));
  return { row, what, v1, openqueue: [refused(sent, problem, openqueue.says ?? there)] };
}

/** A submission that is taken, and read again as it was sent. */
export function goodBody(row: number, what: string, body: string, openqueue?: "none"): Row {
  const { type, payload = {} } = JSON.parse(body) as { type: string; payload?: object };
  // As text, since `__proto__` is no ordinary key to compare.
  const says = `"payload":${JSON.stringify(payload)}`;
  const v1 = [
    { send: submit(body), status: 201 },
    { send: get("/v1/jobs/{id}"), status: 200, shows: { type }, says },
  ];
  if (openqueue === "none") return { row, what: `${what}, which is accepted`, v1 };
  const there = [
    { send: submitOpenQueue(inOpenQueue(body)), status: 201 },
    { send: get("/jobs/{id}/detail"), status: 200, says },
  ];
  return { row, what: `${what}, which is accepted`, v1, openqueue: there };
}

/** A submission of /v1 as one of OpenQueue's, which has no type, and always a payload. */
export function inOpenQueue(body: string): string {
  return body.includes('"payload"') ? body.replace('"type":"a",', "") : body.replaceAll('"type":"a"', '"payload":{}');
}
