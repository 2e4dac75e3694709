import { get, leased, loc, post, put, refused, submitOpenQueue, type Row, type Step } from "./row.ts";

const wrong = "01920000-0000-4000-8000-000000000000";
const batch = (...jobs: string[]) => post("/v1/jobs/batch", `{"jobs":[${jobs.join(",")}]}`);
const inBatch = (key: string, more = "") => `{"type":"a","queue":"batch","idempotency_key":"${key}"${more}}`;
const noneStored: Step = { send: get("/v1/jobs?queue=batch"), status: 200, shows: { items: [] } };

const openQueueBatch = (...jobs: string[]) => post("/jobs/batch", `{"jobs":[${jobs.join(",")}]}`);
const inOpenQueueBatch = (more = "") => `{"queue_name":"batch","payload":{}${more}}`;
const noneThere: Step = { send: get("/jobs?queue_name=batch"), status: 200, shows: { items: [], total: 0 } };

/** `field` exists on both surfaces: leasing more than one job, or waiting for one, is only on /v1. */
const badLease = (fields: string, field: string, v1Only = false): Row => ({
  row: 26,
  what: `a lease with ${fields}`,
  v1: [refused(post("/v1/queues/default/lease", `{${fields}}`), "validation", `/${field}`)],
  ...(!v1Only && {
    openqueue: [refused(post("/queues/default/lease", `{${fields}}`), "validation", loc("body", field))],
  }),
});

const leasedThere = (queue_name: string): Step[] => [
  { send: submitOpenQueue(`{"payload":{},"queue_name":"${queue_name}"}`), status: 201 },
  { send: post(`/queues/${queue_name}/lease`, '{"worker_id":"w"}'), status: 200, says: "{id}" },
];
const ack = (token: string, more = "") => post("/v1/jobs/{id}/ack", `{"lease_token":"${token}"${more}}`);
const ackThere = (token: string, more = "") => post("/jobs/{id}/ack", `{"lease_token":"${token}"${more}}`);
const nackThere = (error: string) => post("/jobs/{id}/nack", `{"lease_token":"{token}","error":"${error}"}`);
const detail = get("/jobs/{id}/detail");
const completed: Step["shows"] = { status: "completed" };
const cancel = post("/v1/jobs/{id}/cancel", "", []);

/** Row 24, of what a queue has for its jobs. */
const badDefault = (value: string, says: string): Row => ({
  row: 24,
  what: `a queue's defaults ${value}`,
  v1: [refused(put("/v1/queues/default/defaults", value), "validation", says)],
});

/** Rows 25 to 31 without 28, and defaults of queues: batches, leases, and what is too long. */
export const jobRows: Row[] = [
  badDefault('{"max_attempts":26}', "/max_attempts must be an integer from 1 to 25, or null; got 26"),
  badDefault('{"max_attempts":"3"}', String.raw`got \"3\"`),
  badDefault('{"timeout_seconds":86401}', "/timeout_seconds must be an integer of seconds from 1 to 86400, or null"),
  badDefault('{"backoff":{"kind":"linear","base_seconds":1}}', "/backoff/kind"),
  badDefault('{"backoff":{"kind":"fixed","base_seconds":-1}}', "/backoff/base_seconds"),
  badDefault('{"backoff":5}', "/backoff must be an object {kind, base_seconds, max_seconds?}, or null; got 5"),
  badDefault(
    '{"retention_seconds":0}',
    "/retention_seconds must be an integer of seconds from 1 to 315360000, or null",
  ),
  badDefault('{"result_ttl_seconds":0}', "/result_ttl_seconds"),
  badDefault('{"priority":1}', "/priority is not a field of this request"),
  badDefault("[]", "must be"),
  {
    row: 25,
    what: "an empty batch",
    v1: [refused(batch(), "validation", "/jobs")],
    openqueue: [refused(openQueueBatch(), "validation", loc("body", "jobs"))],
  },
  {
    row: 25,
    what: "a batch in which a job has no key",
    v1: [
      refused(batch(inBatch("kept"), '{"type":"a","queue":"batch"}'), "validation", "/jobs/1/idempotency_key"),
      noneStored,
    ],
  },
  {
    row: 25,
    what: "a batch of 1,001",
    v1: [
      refused(batch(...Array.from({ length: 1_001 }, (_, at) => inBatch(`many-${at}`))), "validation", "/jobs"),
      noneStored,
    ],
    openqueue: [
      refused(
        openQueueBatch(...Array.from({ length: 1_001 }, () => inOpenQueueBatch())),
        "validation",
        loc("body", "jobs"),
      ),
      noneThere,
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
    openqueue: [
      refused(
        openQueueBatch(inOpenQueueBatch(), inOpenQueueBatch(',"max_retries":25'), inOpenQueueBatch()),
        "validation",
        loc("body", "jobs", 1, "max_retries"),
      ),
      noneThere,
    ],
  },
  badLease('"worker_id":"w","lease_seconds":0', "lease_seconds"),
  badLease('"worker_id":"w","lease_seconds":-1', "lease_seconds"),
  badLease('"worker_id":"w","lease_seconds":1e9', "lease_seconds"),
  badLease('"worker_id":""', "worker_id"),
  badLease('"worker_id":"w","max_jobs":101', "max_jobs", true),
  badLease('"worker_id":"w","wait_seconds":31', "wait_seconds", true),
  {
    row: 27,
    what: "an ack with another token",
    v1: [
      ...leased("ack-wrong"),
      refused(ack(wrong), "lease_lost"),
      { send: get("/v1/jobs/{id}"), status: 200, shows: { status: "running" } },
    ],
    openqueue: [
      ...leasedThere("ack-wrong-there"),
      refused(ackThere(wrong), "lease_lost"),
      { send: get("/jobs/{id}"), status: 200, shows: { status: "processing" } },
    ],
  },
  {
    row: 27,
    what: "an ack with no token",
    v1: [...leased("ack-none"), refused(ack("x"), "validation", "/lease_token")],
    // Any text is a token there, and this one holds nothing.
    openqueue: [...leasedThere("ack-none-there"), refused(ackThere("x"), "lease_lost")],
  },
  {
    row: 27,
    what: "an ack, sent twice",
    v1: [
      ...leased("ack-twice"),
      { send: ack("{token}", ',"result":1'), status: 200, shows: { status: "succeeded", result: 1 } },
      { send: ack("{token}", ',"result":1'), status: 200, shows: { status: "succeeded", result: 1 } },
    ],
    openqueue: [
      ...leasedThere("ack-twice-there"),
      { send: ackThere("{token}", ',"result":1'), status: 200, shows: completed },
      { send: ackThere("{token}", ',"result":1'), status: 200, shows: completed },
      { send: detail, status: 200, shows: { status: "completed", result: 1 } },
    ],
  },
  {
    row: 27,
    what: "an ack after the job was cancelled",
    v1: [...leased("ack-late"), { send: cancel, status: 200 }, refused(ack("{token}"), "lease_lost")],
    // Only /v1 cancels a job that runs.
    openqueue: [
      ...leasedThere("ack-late-there"),
      refused(post("/jobs/{id}/cancel", "", []), "not_found"),
      { send: cancel, status: 200 },
      refused(ackThere("{token}"), "lease_lost"),
    ],
  },
  // Row 29 is about schedules: it is in bodies.ts, and OpenQueue has none.
  {
    row: 31,
    what: "a result of 300 KiB",
    v1: [
      ...leased("large-result"),
      refused(ack("{token}", `,"result":"${"x".repeat(300 * 1_024)}"`), "too_large", "/result"),
    ],
    openqueue: [
      ...leasedThere("large-result-there"),
      refused(ackThere("{token}", `,"result":"${"x".repeat(300 * 1_024)}"`), "too_large", "/result may have"),
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
    openqueue: [
      ...leasedThere("large-error-there"),
      { send: nackThere("e".repeat(10 * 1_048_576)), status: 200 },
      { send: detail, status: 200, shows: { error_text: "e".repeat(4_096) } },
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
    openqueue: [
      ...leasedThere("error-inside-there"),
      { send: nackThere(`${"e".repeat(4_095)}😀`), status: 200 },
      { send: detail, status: 200, shows: { error_text: "e".repeat(4_095) } },
    ],
  },
];
