import { get, post, refused, submit, type Row, type Step } from "./row.ts";

const nobody = "01920000-0000-4000-8000-000000000000";
const noneStored: Step = { send: get("/v1/jobs?queue=flow"), status: 200, shows: { items: [] } };
const waitingFor = (parent: string, more = "") => `{${more}"type":"a","queue":"flow","depends_on":["${parent}"]}`;
const badFlow = (what: string, jobs: string, pointer: string): Row => ({
  row: 25,
  what: `a batch with ${what}`,
  v1: [
    refused(
      post("/v1/jobs/batch", `{"jobs":[${jobs}]}`, ["Content-Type: application/json", "Idempotency-Key: bad-flow"]),
      "validation",
      pointer,
    ),
    noneStored,
  ],
});

const badQuestion = (target: string): Row => ({
  row: 28,
  what: `GET ${target}`,
  v1: [refused(get(target), "validation")],
});
const badCursor = (target: string): Row => ({
  row: 28,
  what: `GET ${target}`,
  v1: [refused(get(target), "malformed_request")],
});

const badChildren = (what: string, more: string, pointer: string): Row => {
  const queue = `spawner ${what}`.replaceAll(/[^a-z]/g, "-");
  return {
    row: 25,
    what: `an ack with ${what}`,
    v1: [
      { send: submit(`{"type":"a","queue":"${queue}"}`), status: 201 },
      { send: post(`/v1/queues/${queue}/lease`, '{"worker_id":"w"}'), status: 200, says: "{id}" },
      refused(post("/v1/jobs/{id}/ack", `{"lease_token":"{token}",${more}}`), "validation", pointer),
      { send: get("/v1/jobs/{id}"), status: 200, shows: { status: "running" } },
      noneStored,
    ],
  };
};

const named = (ref: string) => `{"type":"a","ref":"${ref}"}`;
const manyParents = Array.from({ length: 11 }, (_, child) =>
  waitingFor(Array.from({ length: 950 }, (_one, at) => `r${at}`).join('","'), `"ref":"c${child}",`),
);

/** Batches that the function `submit_flow` refuses as well. */
export const badFlowRows: Row[] = [
  badFlow("a job that waits for what is no ref", waitingFor("b"), "/jobs/0/depends_on/0"),
  badFlow("a job that waits for one that does not exist", waitingFor(nobody), "/jobs/0/depends_on/0"),
  badFlow("a job that waits for itself", waitingFor("a", '"ref":"a",'), "/jobs/0/depends_on/0"),
  badFlow("a circle", `${waitingFor("b", '"ref":"a",')},${waitingFor("a", '"ref":"b",')}`, "/jobs/0/depends_on/0"),
  badFlow(
    "a circle behind a job",
    `${named("r")},${waitingFor('c","r', '"ref":"a",')},${waitingFor("a", '"ref":"b",')},${waitingFor("b", '"ref":"c",')},${waitingFor("c")}`,
    "/jobs/1/depends_on/0",
  ),
  badFlow("a policy without parents", '{"type":"a","on_parent_failure":"run"}', "/jobs/0/on_parent_failure"),
  badFlow("an unknown policy", waitingFor("a", '"on_parent_failure":"stop",'), "/jobs/0/on_parent_failure"),
  badFlow("a ref twice", `${named("a")},${waitingFor("a")},${named("a")}`, "/jobs/2/ref"),
  badFlow("a ref that is an id", named(nobody), "/jobs/0/ref"),
  badFlow("a ref with a blank", named("a b"), "/jobs/0/ref"),
  badFlow("a parent named twice", `${named("a")},${waitingFor('a","a')}`, "/jobs/1/depends_on/1"),
  badFlow("parents that are no list", '{"type":"a","depends_on":"a"}', "/jobs/0/depends_on"),
  badFlow("a parent that is a number", `${named("5")},{"type":"a","depends_on":[5]}`, "/jobs/1/depends_on"),
  badFlow("parents that are null", '{"type":"a","depends_on":null}', "/jobs/0/depends_on"),
  badFlow("a key of one job", `${named("a")},${waitingFor("a", '"idempotency_key":"k",')}`, "/jobs/1/idempotency_key"),
  badFlow(
    "a job that replaces others",
    `${named("a")},${waitingFor("a")},{"type":"a","unique":{"on_conflict":"replace"}}`,
    "/jobs/2/unique/on_conflict",
  ),
  badFlow("a bad field", `${named("a")},${waitingFor("a", '"priority":5000,')}`, "/jobs/1/priority"),
  badFlow("an unknown field", `${named("a")},${waitingFor("a", '"colour":"red",')}`, "/jobs/1/colour"),
  badFlow("a tenant", `${named("a")},${waitingFor("a", '"tenant":"b",')}`, "/jobs/1/tenant"),
  badFlow("a type that is a number", `${named("a")},{"type":5}`, "/jobs/1/type"),
  badFlow("no type", `${named("a")},{"depends_on":["a"]}`, "/jobs/1/type"),
  badFlow("a payload that is null", `${named("a")},${waitingFor("a", '"payload":null,')}`, "/jobs/1/payload"),
  badFlow("what is no job", `${named("a")},5`, "/jobs/1"),
  badFlow("no job", "", "/jobs"),
  badFlow("1,001 jobs", Array.from({ length: 1_001 }, () => '{"type":"a"}').join(","), "/jobs"),
  badFlow(
    "more than 10,000 edges",
    [...Array.from({ length: 950 }, (_, at) => named(`r${at}`)), ...manyParents].join(","),
    "/jobs",
  ),
];

/** More of rows 25 and 28: batches in which jobs wait for others, acks that add jobs, and questions about flows. OpenQueue has none. */
export const flowRows: Row[] = [
  ...badFlowRows,
  badChildren("children that are no list", '"children":{}', "/children"),
  badChildren("a child that waits for what is no ref", `"children":[${waitingFor("b")}]`, "/children/0/depends_on/0"),
  badChildren("a child that waits for no job", `"children":[${waitingFor(nobody)}]`, "/children/0/depends_on/0"),
  badChildren("a child with a key", '"children":[{"type":"a","idempotency_key":"k"}]', "/children/0/idempotency_key"),
  badChildren(
    "a child that replaces others",
    '"children":[{"type":"a","unique":{"on_conflict":"replace"}}]',
    "/children/0/unique/on_conflict",
  ),
  badChildren("dependants that wait twice", '"children":[],"dependants_wait":2', "/dependants_wait"),
  {
    row: 25,
    what: "a job that waits for one that does not exist",
    v1: [
      refused(submit(waitingFor(nobody)), "validation", "/depends_on/0"),
      refused(submit(waitingFor("a")), "validation", "/depends_on/0"),
      refused(submit(waitingFor(nobody, '"unique":{},')), "validation", "/unique/on_conflict"),
      noneStored,
    ],
  },
  ...["limit=0", "limit=51", "limit=abc", "limit=5&limit=6", "state=sleeping", "colour=red"].map((query) =>
    badQuestion(`/v1/flows?${query}`),
  ),
  ...["nonsense", `${nobody}?colour=red`].map((rest) => badQuestion(`/v1/flows/${rest}`)),
  ...["?cursor=x", "?state=%ff", `/${nobody}?cursor=x`].map((rest) => badCursor(`/v1/flows${rest}`)),
  {
    row: 28,
    what: "an act on a flow that does not exist",
    v1: ["cancel", "retry"].map((verb) => refused(post(`/v1/flows/${nobody}/${verb}`, "", []), "not_found")),
  },
];
