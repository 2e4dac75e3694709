import { get, loc, post, refused, type Row, type Step } from "./row.ts";

const unknown = "01920000-0000-4000-8000-000000000000";

const badList = (query: string): Row => ({
  row: 28,
  what: `a list with ?${query}`,
  v1: [refused(get(`/v1/jobs?${query}`), "validation")],
  openqueue: [badListThere(query.replace("queue=", "queue_name="))],
});
const badListThere = (query: string): Step =>
  refused(get(`/jobs?${query}`), "validation", loc("query", query.split("=")[0] ?? ""));

/** OpenQueue's pages have an offset, and a cursor is a parameter that there is not. */
const badCursor = (cursor: string): Row => ({
  row: 28,
  what: `a list from the cursor ${cursor}`,
  v1: [refused(get(`/v1/jobs?cursor=${cursor}`), "malformed_request")],
  openqueue: [badListThere(`cursor=${cursor}`)],
});

const overlong = Array.from({ length: 101 }, (_, at) => `p${at}`).join("&");

/** Row 28: lists, and parameters that no list has. */
export const listRows: Row[] = [
  ...[
    "limit=0",
    "limit=-1",
    "limit=abc",
    "limit=201",
    "limit=5&limit=6",
    "status=foo",
    "queue=a%20b",
    "colour=red",
  ].map(badList),
  ...["type=%ff", "type=%zz"].map((query): Row => ({
    row: 28,
    what: `a list with ?${query}`,
    v1: [refused(get(`/v1/jobs?${query}`), "malformed_request", "query")],
    openqueue: [refused(get(`/jobs?${query}`), "malformed_request", "query")],
  })),
  ...["/v1/schedules?cursor=junk", "/v1/dlq?cursor=f_________-AAAAAAAAAAAAAAAAAAAAAAAAAAAAA"].map((target): Row => ({
    row: 28,
    what: target,
    v1: [refused(get(target), "malformed_request")],
  })),
  badCursor("abc"),
  badCursor("AAAAAAAAAAAAAAAAAAAAAAAAAAA"),
  ...["offset=-1", "offset=10001", "offset=abc", "offset=1&offset=2", "status=failed", "status=queued"].map(
    (query): Row => ({ row: 28, what: `a list with ?${query}`, openqueue: [badListThere(query)] }),
  ),
  {
    row: 28,
    what: "a list with 101 parameters",
    v1: [refused(get(`/v1/jobs?${overlong}`), "malformed_request", "100 parameters at most")],
    openqueue: [refused(get(`/jobs?${overlong}`), "malformed_request", "100 parameters at most")],
  },
  {
    row: 28,
    what: "a parameter of no route",
    v1: [refused(get(`/v1/jobs/${unknown}?wait=1`), "validation", "query:wait")],
    openqueue: [
      refused(get(`/jobs/${unknown}?wait=1`), "validation", loc("query", "wait")),
      refused(get("/dashboard/queues?wait=1"), "validation", loc("query", "wait")),
      refused(post("/jobs?wait=1", '{"payload":{}}'), "validation", loc("query", "wait")),
    ],
  },
];
