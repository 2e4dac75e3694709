import { problems, type ProblemKind } from "@atlasqueue/contract";

/** What goes over the wire, as nobody's client would put it. */
export type Sent = {
  method: string;
  target: string;
  /** Lines of `Name: value`; Content-Length is added unless the body's size is said otherwise. */
  headers: string[];
  body?: string | Uint8Array;
};

/** One request and its answer. `{id}` and `{token}` stand for what the steps before were answered. */
export type Step = {
  send: Sent;
  status: number;
  /** Which problem it is, on /v1. */
  problem?: ProblemKind;
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

export function post(target: string, body: string, headers: string[] = [json]): Sent {
  return { method: "POST", target, headers, body };
}

export function get(target: string, method = "GET"): Sent {
  return { method, target, headers: [] };
}

/** It is refused with this problem. */
export function refused(send: Sent, problem: ProblemKind, says = ""): Step {
  return { send, status: problems[problem].status, problem, says };
}

/** A submission that is refused for its body. */
export function badBody(row: number, body: string, problem: ProblemKind, says: string): Row {
  return { row, what: `the body ${body.slice(0, 70)}`, v1: [refused(submit(body), problem, says)] };
}

/** A submission that is taken, and read again as it was sent. */
export function goodBody(row: number, what: string, body: string): Row {
  const { type, payload = {} } = JSON.parse(body) as { type: string; payload?: object };
  return {
    row,
    what: `${what}, which is accepted`,
    v1: [
      { send: submit(body), status: 201 },
      // As text, since `__proto__` is no ordinary key to compare.
      { send: get("/v1/jobs/{id}"), status: 200, shows: { type }, says: `"payload":${JSON.stringify(payload)}` },
    ],
  };
}
