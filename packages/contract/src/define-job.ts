import { z } from "zod";
import { PayloadError } from "./handler-errors.ts";
import { jobType, type SubmitJobInput } from "./job.ts";
import type { JsonObject } from "./json.ts";

/** What a submission says beside type and payload; with a key of its own it is safe to submit again. */
export type JobOptions = Omit<SubmitJobInput, "type" | "payload"> & { idempotency_key?: string };

/** A submission as `createQueue` and the client take it. */
export type JobSubmission = SubmitJobInput & { idempotency_key?: string };

/**
 * A type of job, known to both sides: who submits it gives what the schema takes (`Input`), who handles it gets what the
 * schema makes of that (`Output`).
 */
export type JobDefinition<Input = unknown, Output = unknown> = {
  readonly type: string;
  /** A submission of this type, unchecked, for one of many or for a queue in your own transaction. */
  submission(payload: Input, options?: JobOptions): JobSubmission;
  /** What the handler gets; at once unless the schema has asynchronous checks. Fails with a PayloadError. */
  parse(payload: unknown): Output | Promise<Output>;
};

/**
 * Define a type of job once, for the side that submits and the side that handles. Throws a TypeError when the type is
 * not one: 1 to 128 characters, no control characters.
 *
 * @example
 * export const sendEmail = defineJob("email.send", z.object({ to: z.email() }));
 * await client.submit(sendEmail, { to: "ada@example.org" });
 */
export function defineJob<S extends z.ZodType<unknown, object>>(
  type: string,
  schema: S,
): JobDefinition<z.input<S>, z.output<S>> {
  if (!jobType.safeParse(type).success)
    throw new TypeError(`a job's type must be ${jobType.description}; got ${JSON.stringify(type)}`);
  return {
    type,
    // The schema takes objects; whether JSON can hold what is in them is for the server to say.
    submission: (payload, options = {}) => ({ ...options, type, payload: payload as JsonObject }),
    parse: (payload) => parsePayload(schema, payload),
  };
}

/**
 * A payload as the handler wants it: at once when the schema can, a promise when it has asynchronous checks. Throws, or
 * rejects with, a PayloadError that says on one line what does not fit.
 *
 * @example
 * parsePayload(z.object({ to: z.email() }), { to: "ada@example.org" }); // { to: "ada@example.org" }
 */
export function parsePayload<S extends z.ZodType>(schema: S, payload: unknown): z.output<S> | Promise<z.output<S>> {
  try {
    return accepted(schema.safeParse(payload));
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) return schema.safeParseAsync(payload).then(accepted);
    throw error;
  }
}

function accepted<T>(parsed: z.ZodSafeParseResult<T>): T {
  if (parsed.success) return parsed.data;
  throw new PayloadError(z.prettifyError(parsed.error).replaceAll("\n", " "));
}
