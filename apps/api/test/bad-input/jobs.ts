import { get, post, refused, submit, type Row, type Step } from "./row.ts";

const wrong = "01920000-0000-4000-8000-000000000000";
const batch = (...jobs: string[]) => post("/v1/jobs/batch", `{"jobs":[${jobs.join(",")}]}`);
const inBatch = (key: string, more = "") => `{"type":"a","queue":"batch","idempotency_key":"${key}"${more}}`;
const noneStored: Step = { send: get("/v1/jobs?queue=batch"), status: 200, shows: { items: [] } };

const badLease = (fields: string, says: string): Row => ({
  row: 26,
  what: `a lease with ${fields}`,
  v1: [refused(post("/v1/queues/default/lease", `{${fields}}`), "validation", says)],
});

/** A job of a queue of its own, under a lease. */
const leased = (queue: string): Step[] => [
  { send: submit(`{"type":"a","queue":"${queue}"}`), status: 201 },
  { send: post(`/v1/queues/${queue}/lease`, '{"worker_id":"w"}'), status: 200, says: "{id}" },
];
const ack = (token: string, more = "") => post("/v1/jobs/{id}/ack", `{"lease_token":"${token}"${more}}`);
const cancel = post("/v1/jobs/{id}/cancel", "", []);

const badList = (query: string, status: 400 | 422): Row => ({
  row: 28,
  what: `a list with ?${query}`,
  v1: [refused(get(`/v1/jobs?${query}`), status === 400 ? "malformed_request" : "validation")],
});

/** Rows 25 to 31: batches, leases, lists, and what is too long. */
export const jobRows: Row[] = [
  { row: 25, what: "an empty batch", v1: [refused(batch(), "validation", "/jobs")] },
  {
    row: 25,
    what: "a batch of 1,001",
    v1: [
      refused(batch(...Array.from({ length: 1_001 }, (_, at) => inBatch(`many-${at}`))), "validation", "/jobs"),
      noneStored,
    ],
  },
  {
    row: 25,
    what: "a batch with one bad item",
    v1: [
      refused(
        batch(inBatch("b-1"), inBatch("b-2", ',"max_attempts":26'), inBatch("b-3")),
        "validation",
        "/jobs/1/max_attempts",
      ),
      noneStored,
    ],
  },
  badLease('"worker_id":"w","lease_seconds":0', "/lease_seconds"),
  badLease('"worker_id":"w","lease_seconds":-1', "/lease_seconds"),
  badLease('"worker_id":"w","lease_seconds":1e9', "/lease_seconds"),
  badLease('"worker_id":""', "/worker_id"),
  badLease('"worker_id":"w","max_jobs":101', "/max_jobs"),
  badLease('"worker_id":"w","wait_seconds":31', "/wait_seconds"),
  {
    row: 27,
    what: "an ack with another token",
    v1: [
      ...leased("ack-wrong"),
      refused(ack(wrong), "lease_lost"),
      { send: get("/v1/jobs/{id}"), status: 200, shows: { status: "running" } },
    ],
  },
  {
    row: 27,
    what: "an ack with no token",
    v1: [...leased("ack-none"), refused(ack("x"), "validation", "/lease_token")],
  },
  {
    row: 27,
    what: "an ack, sent twice",
    v1: [
      ...leased("ack-twice"),
      { send: ack("{token}", ',"result":1'), status: 200, shows: { status: "succeeded", result: 1 } },
      { send: ack("{token}", ',"result":1'), status: 200, shows: { status: "succeeded", result: 1 } },
    ],
  },
  {
    row: 27,
    what: "an ack after the job was cancelled",
    v1: [...leased("ack-late"), { send: cancel, status: 200 }, refused(ack("{token}"), "lease_lost")],
  },
  ...[
    "limit=0",
    "limit=-1",
    "limit=abc",
    "limit=201",
    "limit=5&limit=6",
    "status=foo",
    "queue=a%20b",
    "colour=red",
  ].map((query) => badList(query, 422)),
  badList("cursor=abc", 400),
  badList("cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAA", 400),
  {
    row: 28,
    what: "a parameter of no route",
    v1: [refused(get(`/v1/jobs/${wrong}?wait=1`), "validation", "query:wait")],
  },
  // Row 29 is about schedules, which there are none of yet.
  {
    row: 31,
    what: "a result of 300 KiB",
    v1: [
      ...leased("large-result"),
      refused(ack("{token}", `,"result":"${"x".repeat(300 * 1_024)}"`), "too_large", "/result"),
    ],
  },
  {
    row: 31,
    what: "an error of 10 MB, which is cut",
    v1: [
      ...leased("large-error"),
      {
        send: post("/v1/jobs/{id}/nack", `{"lease_token":"{token}","error":"${"e".repeat(10 * 1_048_576)}"}`),
        status: 200,
        shows: { last_error: "e".repeat(4_096) },
      },
    ],
  },
  {
    row: 31,
    what: "an error that would be cut inside a character, which is cut before it",
    v1: [
      ...leased("error-inside"),
      {
        send: post("/v1/jobs/{id}/nack", `{"lease_token":"{token}","error":"${"e".repeat(4_095)}😀"}`),
        status: 200,
        shows: { last_error: "e".repeat(4_095) },
      },
    ],
  },
];
