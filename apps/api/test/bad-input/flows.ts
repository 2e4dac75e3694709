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

/** More of rows 25 and 28: batches in which jobs wait for others, acks that add jobs, and questions about flows. OpenQueue has none. */
export const flowRows: Row[] = [
  badFlow("a job that waits for what is no ref", waitingFor("b"), "/jobs/0/depends_on/0"),
  badFlow("a job that waits for one that does not exist", waitingFor(nobody), "/jobs/0/depends_on/0"),
  badFlow("a job that waits for itself", waitingFor("a", '"ref":"a",'), "/jobs/0/depends_on/0"),
  badFlow("a circle", `${waitingFor("b", '"ref":"a",')},${waitingFor("a", '"ref":"b",')}`, "/jobs/0/depends_on/0"),
  badFlow("a policy without parents", '{"type":"a","on_parent_failure":"run"}', "/jobs/0/on_parent_failure"),
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
    v1: [refused(submit(waitingFor(nobody)), "validation", "/depends_on/0"), noneStored],
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
