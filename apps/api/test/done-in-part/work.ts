import { randomUUID } from "node:crypto";
import type { Acts, Stage } from "./stage.ts";

/** Held jobs of four groups, in each of which another one waits, which was sent a signal. */
async function heldGroups({ fresh, submit, lease, told }: Stage) {
  const queue = fresh();
  for (const group of ["a", "b", "c", "d"]) {
    await submit({ queue, group });
    await told("sendSignal", { params: { id: await submit({ queue, group }), name: "approved" }, body: {} });
  }
  return lease(queue, 4);
}

const failed = { error: "x", retry: false };
/** What a job was leased under before. */
const lost = (held: object | undefined) => ({ ...held, lease_token: randomUUID() });

/** Work on leases. */
export const ofWork: Acts = {
  ackJob: async ({ held }) => {
    const { id, lease_token } = await held({ group: "a" });
    return { params: { id }, body: { lease_token, result: 1 } };
  },
  "ackJob with children": async ({ held }) => {
    const { id, lease_token } = await held();
    return { params: { id }, body: { lease_token, children: [{ type: "noop" }] } };
  },
  nackJob: async ({ held }) => {
    const { id, lease_token } = await held({ group: "a" });
    return { params: { id }, body: { lease_token, ...failed } };
  },
  releaseJob: async ({ held }) => {
    const { id, lease_token } = await held({ group: "a" });
    return { params: { id }, body: { lease_token } };
  },
  heartbeat: async ({ held }) => {
    const { id, lease_token } = await held();
    return { params: { id }, body: { lease_token, progress: { percent: 50 } } };
  },
  settleLeases: async (stage) => {
    const [acked, nacked, released] = await heldGroups(stage);
    const nacks = [{ ...nacked, ...failed }];
    return { body: { acks: [acked], nacks, releases: [released], next: { worker_id: "w" } } };
  },
  "settleLeases of acks, one of them lost": async (stage) => {
    const [acked, other] = await heldGroups(stage);
    return { body: { acks: [acked, lost(other)] } };
  },
  "settleLeases of nacks, one of them lost": async (stage) => {
    const [nacked, other] = await heldGroups(stage);
    return { body: { nacks: [nacked, lost(other)].map((held) => ({ ...held, ...failed })) } };
  },
  releaseLease: async ({ fresh, submit, told }) => {
    const [queue, lease_token] = [fresh(), randomUUID()];
    for (const group of ["a", "b"]) await submit({ queue, group });
    await told("leaseJobs", { params: { queue }, body: { worker_id: "w", max_jobs: 2, lease_token } });
    return { body: { lease_token } };
  },
  storeStep: async ({ held }) => {
    const { id, lease_token } = await held();
    return { params: { id, name: "charge" }, body: { lease_token, result: 1 } };
  },
  parkJob: async ({ held }) => {
    const { id, lease_token } = await held();
    return { params: { id }, body: { lease_token, signal: "approved", timeout_seconds: 3_600 } };
  },
};

/** What OpenQueue's clients ask. */
export const ofOpenQueue: Acts = {
  openQueueSubmit: async ({ fresh }) => ({ body: { queue_name: fresh(), payload: {} } }),
  openQueueSubmitBatch: async ({ fresh }) => {
    const queue_name = fresh();
    return { body: { jobs: [1, 2].map((a) => ({ queue_name, payload: { a } })) } };
  },
  openQueueCancelJob: async ({ submit }) => ({ params: { id: await submit() } }),
  openQueueAck: async ({ held }) => {
    const { id, lease_token } = await held();
    return { params: { id }, body: { lease_token } };
  },
  openQueueNack: async ({ held }) => {
    const { id, lease_token } = await held();
    return { params: { id }, body: { lease_token, ...failed } };
  },
  openQueueHeartbeat: async ({ held }) => {
    const { id, lease_token } = await held();
    return { params: { id }, body: { lease_token, lease_seconds: 60 } };
  },
};
