import { z } from "zod";
import { describeFields } from "../../checks/field-texts.ts";
import { submitFields } from "./submission.ts";

/** What a submission of a job type has where it names none of its own. */
export const jobDefaults = submitFields.pick({
  max_attempts: true,
  backoff: true,
  timeout_seconds: true,
  retention_seconds: true,
  result_ttl_seconds: true,
});
export type JobDefaults = z.output<typeof jobDefaults>;

const orNull = <S extends z.ZodType>(field: z.ZodOptional<S>) =>
  field.unwrap().nullable().default(null).describe(`${field.description}, or null`);
const { max_attempts, backoff, timeout_seconds, retention_seconds, result_ttl_seconds } = jobDefaults.shape;

/** What a job of a queue has where neither its submission nor its type names it. Null is the system's default. */
export const queueDefaults = describeFields(
  z.strictObject({
    max_attempts: orNull(max_attempts),
    backoff: orNull(backoff),
    timeout_seconds: orNull(timeout_seconds),
    retention_seconds: orNull(retention_seconds),
    result_ttl_seconds: orNull(result_ttl_seconds),
  }),
  {
    max_attempts: "How many times a job may run before it becomes a dead letter. Null is 5.",
    backoff: "How long a job waits before each retry. Null is the server's setting.",
    timeout_seconds: "When an attempt is aborted. Null is the handler's own timeout.",
    retention_seconds: "How long a job is kept after it has finished. Null is the server's setting.",
    result_ttl_seconds: "How long a job's result is kept after it has succeeded. Null is the server's setting.",
  },
);
export type QueueDefaultsInput = z.input<typeof queueDefaults>;
export type QueueDefaults = z.output<typeof queueDefaults>;
