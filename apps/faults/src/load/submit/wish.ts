import type { JobSubmission } from "@atlasqueue/client";
import type { JsonObject, SubmitJobInput } from "@atlasqueue/contract";
import type { WantedJob } from "../../history/moves.ts";
import type { JobKind } from "../kinds.ts";
import type { TaskInput } from "../task.ts";

/** One job as its submitter wants it. */
export type Wish = {
  nonce: string;
  kind: JobKind;
  tenant: string;
  queue: string;
  ends: WantedJob["ends"];
  task?: Partial<TaskInput>;
  options?: Omit<SubmitJobInput, "type" | "payload" | "queue">;
  key?: string | undefined;
};

/** Nothing but a fault in the engine makes it fail so often. */
const patient = 25;

/** What is sent, with its key. */
export const requestOf = (wish: Wish): JobSubmission => ({
  ...fieldsOf(wish),
  ...(wish.key !== undefined && { idempotency_key: wish.key }),
});

/** The same without a key: that of a flow is for all of it. */
export function fieldsOf({ nonce, kind, tenant, queue, task, options }: Wish): SubmitJobInput {
  const payload: TaskInput = { nonce, tenant, ...(options?.group !== undefined && { group: options.group }), ...task };
  return {
    type: kind,
    queue,
    max_attempts: patient,
    backoff: { kind: "fixed", base_seconds: 0.2 },
    ...options,
    payload: payload as JsonObject,
  };
}

/** What is written down of it. */
export function wantedOf({ nonce, kind, tenant, queue, ends, options = {}, key }: Wish): WantedJob {
  const { group, unique, delay_seconds } = options;
  return {
    nonce,
    kind,
    tenant,
    queue,
    ends,
    max_attempts: options.max_attempts ?? patient,
    ...(group !== undefined && { group }),
    ...(key !== undefined && { key }),
    ...(unique?.key !== undefined && { unique: unique.key }),
    ...(delay_seconds !== undefined && { delay_ms: delay_seconds * 1_000 }),
  };
}
