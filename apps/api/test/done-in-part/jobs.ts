import { randomUUID } from "node:crypto";
import type { Acts, Stage } from "./stage.ts";

const key = () => ({ "idempotency-key": randomUUID() });
const job = { type: "noop" };

/** Two jobs, of which one waits for the other, and one that waits for both. */
async function flow({ told }: Stage): Promise<string> {
  const jobs = [
    { ...job, ref: "a" },
    { ...job, depends_on: ["a"] },
  ];
  return (await told<{ flow_id: string }>("submitJobs", { headers: key(), body: { jobs, then: job } })).flow_id;
}

const cancelled = async ({ told, submit }: Stage) => {
  const id = await submit();
  await told("cancelJob", { params: { id } });
  return id;
};

/** A job with the unique key of another, which is there. */
async function alike({ fresh, submit }: Stage, on_conflict: "replace" | "return") {
  const body = { ...job, queue: fresh(), unique: { key: "a", on_conflict }, delay_seconds: 3_600 };
  await submit(body);
  return { headers: key(), body: { ...body, payload: { a: 1 } } };
}

/** Jobs and flows: submitted, and changed in their course. */
export const ofJobs: Acts = {
  submitJob: async ({ submit }) => ({ headers: key(), body: { ...job, depends_on: [await submit()] } }),
  "submitJob in place of another": (stage) => alike(stage, "replace"),
  "submitJob that is there already": (stage) => alike(stage, "return"),
  submitJobs: async ({ submit }) => ({
    headers: key(),
    body: {
      jobs: [
        { ...job, ref: "a", depends_on: [await submit()] },
        { ...job, depends_on: ["a"] },
      ],
      then: job,
    },
  }),
  cancelJob: async ({ submit }) => ({ params: { id: await submit() }, headers: key() }),
  retryJob: async (stage) => ({ params: { id: await cancelled(stage) }, headers: key() }),
  editJob: async (stage) => ({ params: { id: await cancelled(stage) }, body: { patch: { a: 1 } } }),
  deleteJob: async (stage) => ({ params: { id: await cancelled(stage) } }),
  bulkJobs: async ({ submit }) => ({ body: { action: "cancel", ids: [await submit(), await submit()] } }),
  "bulkJobs of more than a page": async ({ dead }) => ({
    body: { action: "delete", filter: { queue: await dead(101) } },
  }),
  cancelFlow: async (stage) => ({ params: { id: await flow(stage) }, headers: key() }),
  retryFlow: async (stage) => {
    const id = await flow(stage);
    await stage.told("cancelFlow", { params: { id } });
    return { params: { id }, headers: key() };
  },
  sendSignal: async ({ held, told }) => {
    const { id, lease_token } = await held();
    await told("parkJob", { params: { id }, body: { lease_token, signal: "approved", timeout_seconds: 3_600 } });
    return { params: { id, name: "approved" }, headers: key(), body: { payload: 1 } };
  },
};
