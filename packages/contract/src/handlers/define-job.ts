import { z } from "zod";
import { heedChecks } from "./heed-checks.ts";
import { mayWait } from "./may-wait.ts";
import { PayloadError, ResultError } from "./handler-errors.ts";
import { jobType } from "../wire/job.ts";
import type { SubmitJobInput } from "../wire/submit/submission.ts";
import type { Json, JsonObject } from "../checks/json.ts";

/** What a submission says besides type and payload; with its own key it is safe to submit again. */
export type JobOptions = Omit<SubmitJobInput, "type" | "payload"> & { idempotency_key?: string };

/** A submission as `createQueue` and the client accept it. */
export type JobSubmission = SubmitJobInput & { idempotency_key?: string };

/**
 * A job type known to both sides: submitters pass what the schema takes (`Input`), handlers get what the schema makes
 * of it (`Output`), and those who wait get what the result schema makes of the result (`Result`).
 */
export type JobDefinition<Input = unknown, Output = unknown, Result = unknown> = {
  readonly type: string;
  /** An unchecked submission of this type, for one of many or for a queue in your own transaction. */
  submission(payload: Input, options?: JobOptions): JobSubmission;
  /** What the handler gets; synchronous unless the schema has asynchronous checks. Fails with a PayloadError. */
  parse(payload: unknown): Output | Promise<Output>;
  /** What a handle's `result()` resolves with; any JSON without a result schema. Fails with a ResultError. */
  parseResult(result: Json): Result | Promise<Result>;
};

/**
 * Define a job type once, for the side that submits and the side that handles. Throws a TypeError for an invalid type:
 * it has 1 to 128 characters, no control characters.
 *
 * @example
 * export const sendEmail = defineJob("email.send", z.object({ to: z.email() }));
 * await client.submit(sendEmail, { to: "ada@example.org" });
 * export const sum = defineJob("sum", z.object({ a: z.number(), b: z.number() }), z.number()); // and of its results
 */
export function defineJob<S extends z.ZodType<unknown, object>, R extends z.ZodType = z.ZodType<Json>>(
  type: string,
  schema: S,
  result?: R,
): JobDefinition<z.input<S>, z.output<S>, z.output<R>> {
  if (!jobType.safeParse(type).success)
    throw new TypeError(`a job's type must be ${jobType.description}; got ${JSON.stringify(type)}`);
  return {
    type,
    // The schema takes objects; the server checks whether JSON can hold what is in them.
    submission: (payload, options = {}) => ({ ...options, type, payload: payload as JsonObject }),
    parse: (payload) => parsePayload(schema, payload),
    parseResult: (value) => (result ? parseWith(result, value, ResultError) : (value as z.output<R>)),
  };
}

/**
 * A payload as the handler wants it: at once if the schema can, a promise if it has asynchronous checks. Throws, or
 * rejects with, a PayloadError that says on one line what does not fit.
 *
 * @example
 * parsePayload(z.object({ to: z.email() }), { to: "ada@example.org" }); // { to: "ada@example.org" }
 */
export function parsePayload<S extends z.ZodType>(schema: S, payload: unknown): z.output<S> | Promise<z.output<S>> {
  return parseWith(schema, payload, PayloadError);
}

function parseWith<S extends z.ZodType>(
  schema: S,
  value: unknown,
  Fault: new (message: string) => Error,
): z.output<S> | Promise<z.output<S>> {
  // Asynchronous from the start where a check may be: a synchronous try would run it, drop its promise, which may reject
  // unhandled, and then run it a second time. Where none can be, zod is eight times as fast.
  const context = { async: mayWait(schema) };
  if (context.async) heedChecks(schema);
  const accepted = ({ value: parsed, issues }: z.core.ParsePayload): z.output<S> => {
    if (issues.length === 0) return parsed as z.output<S>;
    const config = z.core.config();
    const told = issues.map((issue) => z.core.util.finalizeIssue(issue, context, config));
    throw new Fault(z.prettifyError({ issues: told }).replaceAll("\n", " "));
  };
  const parsed = schema._zod.run({ value, issues: [] }, context);
  return parsed instanceof Promise ? parsed.then(accepted) : accepted(parsed);
}
