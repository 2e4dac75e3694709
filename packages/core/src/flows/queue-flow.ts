import type { SubmitBatchInput, SubmittedBatch } from "@atlasqueue/contract";

// In a file of their own: a program that submits need not have the types of a database.

/** A batch as `POST /v1/jobs/batch` takes it, and the key that makes it safe to submit again. */
export type QueueFlow = Omit<SubmitBatchInput, "jobs"> & {
  jobs: readonly Omit<SubmitBatchInput["jobs"][number], "idempotency_key">[];
  idempotency_key?: string;
};

/** The ids of its jobs, in their order. `flow_id` is null when none of them waits for another. */
export type SubmittedFlow = SubmittedBatch;
