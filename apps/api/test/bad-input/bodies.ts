import { get, loc, post, put, refused, submit, type Row } from "./row.ts";

const id = "01920000-0000-7000-8000-000000000000";
/** A field, as a problem names it. */
const at = (pointer: string) => `"pointer":"${pointer}"`;

/** What a route of /v1 refuses, with the field that is wrong or what is said of it. */
const bodies = (row: number, target: string, all: [body: unknown, says: string][]): Row[] =>
  all.map(([body, says]) => ({
    row,
    what: `${target} with ${JSON.stringify(body).slice(0, 70)}`,
    v1: [refused(post(target, JSON.stringify(body)), "validation", says)],
  }));
/** The same of OpenQueue's surface. */
const bodiesThere = (row: number, target: string, all: [body: unknown, field: string][]): Row[] =>
  all.map(([body, field]) => ({
    row,
    what: `${target} with ${JSON.stringify(body)}`,
    openqueue: [refused(post(target, JSON.stringify(body)), "validation", loc("body", field))],
  }));
const questions = (target: string, queries: string[]): Row[] =>
  queries.map((query) => ({
    row: 28,
    what: `GET ${target}?${query}`,
    v1: [refused(get(`${target}?${query}`), "validation")],
  }));

/** A body that must say which jobs are meant, and says it not at all or twice. */
const noChoice = "give ids, or any of queue, type, tag, fingerprint, died_after and died_before, or all: true";
const choices: [body: unknown, says: string][] = [
  [{}, noChoice],
  [{ dry_run: true }, noChoice],
  [{ ids: [] }, at("/ids")],
  [{ ids: ["x"] }, at("/ids/0")],
  [{ ids: Array.from({ length: 1_001 }, () => id) }, at("/ids")],
  [{ ids: [id], queue: "a" }, "must not"],
  [{ all: true, queue: "a" }, "must not"],
  [{ all: false }, at("/all")],
  [{ queue: "a b" }, at("/queue")],
  [{ queue: "a", dry_run: "yes" }, at("/dry_run")],
];
const any = { filter: { all: true } };
const wrongUnique: [unique: unknown, pointer: string][] = [
  [{ key: "" }, "/unique/key"],
  [{ key: "x".repeat(257) }, "/unique/key"],
  [{ key: "a\nb" }, "/unique/key"],
  [{ scope: "ever" }, "/unique/scope"],
  [{ scope: "window" }, "/unique/window_seconds"],
  [{ window_seconds: 60 }, "/unique/window_seconds"],
  [{ scope: "window", window_seconds: 0 }, "/unique/window_seconds"],
  [{ scope: "window", window_seconds: 31_536_001 }, "/unique/window_seconds"],
  [{ on_conflict: "ignore" }, "/unique/on_conflict"],
  [{ colour: "red" }, "/unique/colour"],
  [true, "/unique"],
  [null, "/unique"],
];
const uniqueRow = (unique: unknown, pointer: string): Row => ({
  row: 24,
  what: `a job whose unique is ${JSON.stringify(unique).slice(0, 70)}`,
  v1: [refused(submit(JSON.stringify({ type: "a", unique })), "validation", at(pointer))],
});

const { name, ...timed } = { name: "nightly", cron: "30 2 * * *", job: { type: "a" } };
const wrongSchedules: [what: string, change: object, pointer: string][] = [
  ["a date that never comes", { cron: "0 0 30 2 *" }, "/cron"],
  ["a nickname", { cron: "@daily" }, "/cron"],
  ["a line end", { cron: "0 0 * *\n*" }, "/cron"],
  ["a thousand numbers", { cron: `${"1,".repeat(1_000)}1 * * * *` }, "/cron"],
  ["no cron", { cron: undefined }, "/cron"],
  ["a zone of another planet", { timezone: "Mars/X" }, "/timezone"],
  ["an offset", { timezone: "+02:00" }, "/timezone"],
  ["another way to catch up", { catch_up: "some" }, "/catch_up"],
  ["no job", { job: undefined }, "/job"],
  ["a job without a type", { job: {} }, "/job/type"],
  ["a job with its own time", { job: { type: "a", run_at: "2030-01-01T00:00:00Z" } }, "/job/run_at"],
  ["a job with a delay", { job: { type: "a", delay_seconds: 5 } }, "/job/delay_seconds"],
  ["a job with a key", { job: { type: "a", idempotency_key: "k" } }, "/job/idempotency_key"],
];
/** Neither made nor put in its place. */
const scheduleRow = (what: string, change: object, pointer: string): Row => ({
  row: 29,
  what: `a schedule with ${what}`,
  v1: [
    refused(post("/v1/schedules", JSON.stringify({ name, ...timed, ...change })), "validation", at(pointer)),
    refused(put("/v1/schedules/nightly", JSON.stringify({ ...timed, ...change })), "validation", at(pointer)),
    refused(get("/v1/schedules/nightly"), "not_found"),
  ],
});

/** What only one operation, or two, can be sent. */
export const bodyRows: Row[] = [
  ...bodies(24, "/v1/dlq/replay", choices),
  ...bodies(24, "/v1/dlq/purge", choices),
  ...bodies(24, "/v1/dlq/replays", [
    [{}, at("/filter")],
    [{ filter: {} }, at("/filter")],
    [{ filter: { all: true, type: "a" } }, at("/filter")],
    [{ filter: { ids: [] } }, at("/filter/ids")],
    [{ filter: { fingerprint: "xyz" } }, at("/filter/fingerprint")],
    [{ filter: { died_after: "yesterday" } }, at("/filter/died_after")],
    [{ ...any, patch: [] }, at("/patch")],
    [{ ...any, patch: null }, at("/patch")],
    [{ ...any, rate: 0 }, at("/rate")],
    [{ ...any, rate: 10_001 }, at("/rate")],
  ]),
  ...bodies(24, "/v1/jobs/bulk", [
    [{}, at("/action")],
    [{ action: "cancel" }, "must not"],
    [{ action: "cancel", filter: {} }, at("/filter")],
    [{ action: "cancel", ids: [], all: true }, at("/ids")],
    [{ action: "cancel", all: true, filter: { queue: "a" } }, "must not"],
    [{ action: "pause", all: true }, at("/action")],
    [{ action: "cancel", filter: { status: "gone" } }, at("/filter/status")],
  ]),
  ...bodies(24, "/v1/operations", [
    [{}, String.raw`/kind is required: \"cancel\", \"retry\", \"delete\" or \"purge\"`],
    [{ kind: "replay", all: true }, String.raw`must be \"cancel\", \"retry\", \"delete\" or \"purge\"; got \"replay\"`],
    [{ kind: "cancel" }, "must not be without a choice"],
    [{ kind: "cancel", filter: {} }, "must be an object with at least one of the fields of the jobs list; got {}"],
    [{ kind: "cancel", filter: { queue: "a" }, all: true }, "must not choose in several ways"],
    [{ kind: "cancel", all: false }, "true, when every job is meant"],
    [{ kind: "cancel", ids: [id] }, at("/ids")],
    [{ kind: "cancel", all: true, rate: 5 }, at("/rate")],
  ]),
  ...bodies(24, "/v1/tokens", [
    [{}, at("/name")],
    [{ name: "", scopes: ["read"] }, at("/name")],
    [{ name: "a", scopes: [] }, at("/scopes")],
    [{ name: "a", scopes: ["root"] }, at("/scopes/0")],
    [{ name: "a", scopes: ["read"], expires_in_seconds: 0 }, at("/expires_in_seconds")],
    [{ name: "a", scopes: ["read"], tenant: "other" }, at("/tenant")],
  ]),
  ...bodies(26, "/v1/leases/release", [
    [{}, at("/lease_token")],
    [{ lease_token: "mine" }, at("/lease_token")],
  ]),
  ...bodies(26, "/v1/queues/q/lease", [[{ worker_id: "w", lease_token: "mine" }, at("/lease_token")]]),
  ...bodies(26, "/v1/leases/settle", [
    [{ next: {} }, at("/next/worker_id")],
    [{ next: { worker_id: "w", lease_seconds: 0 } }, at("/next/lease_seconds")],
    [{ next: { worker_id: "w", lease_token: 7 } }, at("/next/lease_token")],
    [{ next: { worker_id: "w", max_jobs: 2 } }, at("/next/max_jobs")],
    [{ next: true }, at("/next")],
  ]),
  ...wrongUnique.map(([unique, pointer]) => uniqueRow(unique, pointer)),
  ...wrongSchedules.map((wrong) => scheduleRow(...wrong)),
  ...bodies(29, "/v1/schedules", [
    ...[".", "..", "a b", "x".repeat(129)].map((other): [unknown, string] => [{ name: other, ...timed }, at("/name")]),
    ...[".", ".."].map((queue): [unknown, string] => [{ name, ...timed, job: { type: "a", queue } }, at("/job/queue")]),
  ]),
  ...bodiesThere(27, `/jobs/${id}/ack`, [
    [{}, "lease_token"],
    [{ lease_token: 5 }, "lease_token"],
    [{ lease_token: null }, "lease_token"],
  ]),
  ...bodiesThere(27, `/jobs/${id}/nack`, [
    [{ lease_token: id }, "error"],
    [{ lease_token: id, error: "x", retry: "no" }, "retry"],
    [{ lease_token: id, error: "x", delay_seconds: 5 }, "delay_seconds"],
  ]),
  ...bodiesThere(26, `/jobs/${id}/heartbeat`, [[{ lease_token: id, lease_seconds: 0 }, "lease_seconds"]]),
  ...questions("/v1/stats/series", ["window=2h", "queue=", "queue=a%20b", "type=", "from=now"]),
  ...questions("/v1/stats/throughput", ["", "queues=", "queues=a,,b", "queues=a&x=1"]),
  ...questions("/v1/events", [
    "queues=",
    "queues=a,,b",
    `queues=${Array.from({ length: 101 }, (_, n) => `q${n}`).join(",")}`,
    "x=1",
  ]),
  ...questions("/v1/queues", ["limit=0", "limit=1001"]),
  ...questions("/v1/schedules", ["limit=0"]),
];
