import type { checkedRequests } from "./checked-request.ts";

type Called = ReturnType<typeof checkedRequests>["call"];
type Submit = (key: string, body: object) => Promise<string>;
type Lease = (queue: string) => Promise<{ id: string; lease_token: string }>;

const nobody = "00000000-0000-0000-0000-000000000000";
const bad_id = { id: "not-a-uuid" };

/** A job that does a step, waits for a signal and is cancelled. */
export async function tourSteps(call: Called, submit: Submit, lease: Lease): Promise<void> {
  await submit("steps", { queue: "steps" });
  const { id, lease_token } = await lease("steps");
  const charge = { params: { id, name: "charge" }, body: { lease_token, result: { charge_id: "ch_17" } } };
  await call("storeStep", 200, charge);
  await call("storeStep", 200, charge);
  await call("storeStep", 413, { ...charge, body: { lease_token, result: "x".repeat(300_000) } });
  await call("storeStep", 422, { ...charge, params: { id, name: "a\nb" } });
  await call("storeStep", 409, { ...charge, body: { lease_token: nobody } });
  await call("storeStep", 404, { ...charge, params: { id: nobody, name: "charge" } });
  const approved = { params: { id, name: "approved" }, body: { payload: { by: "ada" } } };
  const wait = { params: { id }, body: { lease_token, signal: "approved", timeout_seconds: 60 } };
  await call("parkJob", 200, wait);
  await call("parkJob", 422, { ...wait, body: { ...wait.body, timeout_seconds: 0 } });
  await call("parkJob", 409, { ...wait, body: { ...wait.body, lease_token: nobody } });
  await call("parkJob", 404, { ...wait, params: { id: nobody } });
  await call("explainJob", 200, { params: { id } });
  await call("getJob", 200, { params: { id } });
  await call("sendSignal", 200, approved);
  await call("sendSignal", 200, approved);
  const headers = { "Idempotency-Key": "signal" };
  const keyed = { params: { id, name: "keyed" }, headers, body: {} };
  for (const _ of ["first", "again"]) await call("sendSignal", 200, keyed);
  await call("sendSignal", 422, { ...keyed, body: { payload: "other" } });
  await call("sendSignal", 413, { ...approved, body: { payload: "x".repeat(300_000) } });
  await call("sendSignal", 404, { ...approved, params: { id: nobody, name: "approved" } });
  await call("leaseJobs", 200, { params: { queue: "steps" }, body: { worker_id: "tourist" } });
  await call("listSteps", 200, { params: { id } });
  await call("listSteps", 404, { params: { id: nobody } });
  await call("listSteps", 422, { params: bad_id });
  await call("cancelJob", 200, { params: { id } });
  await call("sendSignal", 409, { params: { id, name: "other" }, body: {} });
}

/** A flow of three jobs that is cancelled and retried. */
export async function tourFlows(call: Called): Promise<void> {
  const jobs = [
    { type: "tour", queue: "flow", ref: "load" },
    { type: "tour", queue: "flow", depends_on: ["load"] },
  ];
  const headers = { "Idempotency-Key": "the flow" };
  const response = await call("submitJobs", 201, { headers, body: { jobs, then: { type: "tour", queue: "flow" } } });
  const { flow_id: id } = (await response.json()) as { flow_id: string };
  await call("submitJobs", 422, {
    headers: { "Idempotency-Key": "circle" },
    body: { jobs: [{ ...jobs[1], ref: "load" }] },
  });
  await call("listFlows", 200, { query: { state: "running" } });
  await call("listFlows", 400, { query: { cursor: "next" } });
  await call("listFlows", 422, { query: { state: "asleep" } });
  await call("getFlow", 200, { params: { id } });
  await call("getFlow", 400, { params: { id }, query: { cursor: "next" } });
  await call("getFlow", 404, { params: { id: nobody } });
  await call("getFlow", 422, { params: bad_id });
  for (const act of ["cancelFlow", "retryFlow"]) {
    const once = { params: { id }, headers: { "Idempotency-Key": act } };
    for (const _ of ["first", "again"]) await call(act, 200, once);
    await call(act, 404, { params: { id: nobody } });
    await call(act, 422, { params: bad_id });
  }
}
