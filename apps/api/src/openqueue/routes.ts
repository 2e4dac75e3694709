import { dashboard } from "./dashboard.ts";
import { cancel, getDetail, getStatus, list } from "./jobs.ts";
import { ack, heartbeat, lease, nack } from "./leases.ts";
import { provision } from "./provision.ts";
import { submit, submitBatch } from "./submit.ts";

/**
 * OpenQueue's wire format over the jobs of /v1, for clients that speak it. Everything that happens to a job happens in
 * the same transitions; these are only other names for it.
 */
export const openQueueRoutes = [
  submit,
  submitBatch,
  list,
  getStatus,
  getDetail,
  cancel,
  dashboard,
  provision,
  lease,
  ack,
  nack,
  heartbeat,
];
