import { z } from "zod";
import { PayloadError, ResultError } from "./handler-errors.ts";
import { checkWith, isSchema, type InputOf, type OutputOf, type StandardSchema } from "./schema.ts";
import { validate } from "../checks/validate.ts";
import { jobType } from "../wire/job.ts";
import { jobDefaults, type JobDefaults } from "../wire/submit/defaults.ts";
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
  /**
   * A submission of this type, for one of many or for a queue in your own transaction. The type's defaults fill in what
   * `options` leave out. Throws a PayloadError for a payload that does not fit; asynchronous checks are not waited for.
   */
  submission(payload: Input, options?: JobOptions): JobSubmission;
  /** What the handler gets; synchronous unless the schema has asynchronous checks. Fails with a PayloadError. */
  parse(payload: unknown): Output | Promise<Output>;
  /** What a handle's `result()` resolves with; any JSON without a result schema. Fails with a ResultError. */
  parseResult(result: Json): Result | Promise<Result>;
};

/** What a type's submissions have where they name none of their own, and the schema of its results. */
export type JobTypeOptions<R extends StandardSchema = StandardSchema<Json, Json>> = JobDefaults & { result?: R };

/**
 * Define a job type once, for the side that submits and the side that handles. Schemas are those of zod, valibot, arktype
 * or another library with Standard Schema. Throws a TypeError for an invalid type, which has 1 to 128 characters and no
 * control characters, for a default out of its range, and for a schema that is none.
 *
 * @example
 * export const sendEmail = defineJob("email.send", z.object({ to: z.email() }));
 * await client.submit(sendEmail, { to: "ada@example.org" });
 * export const sum = defineJob("sum", z.object({ a: z.number(), b: z.number() }), z.number()); // and of its results
 * export const report = defineJob("report", z.object({ month: z.string() }), { max_attempts: 3, timeout_seconds: 600 });
 */
export function defineJob<S extends StandardSchema<object>, R extends StandardSchema = StandardSchema<Json, Json>>(
  type: string,
  schema: S,
  result?: R,
): JobDefinition<InputOf<S>, OutputOf<S>, OutputOf<R>>;
export function defineJob<S extends StandardSchema<object>, R extends StandardSchema = StandardSchema<Json, Json>>(
  type: string,
  schema: S,
  options: JobTypeOptions<R>,
): JobDefinition<InputOf<S>, OutputOf<S>, OutputOf<R>>;
export function defineJob<S extends StandardSchema<object>, R extends StandardSchema>(
  type: string,
  schema: S,
  third: R | JobTypeOptions<R> = {},
): JobDefinition<InputOf<S>, OutputOf<S>, OutputOf<R>> {
  if (!jobType.safeParse(type).success)
    throw new TypeError(`a job's type must be ${jobType.description}; got ${JSON.stringify(type)}`);
  const { result, ...given } = isSchema(third) ? { result: third } : third;
  const defaults = validate(jobDefaults, given);
  if (defaults.kind === "invalid")
    throw new TypeError(
      `the type ${type}: ${defaults.faults.map((one) => `${one.pointer} ${one.message}`).join("; ")}`,
    );
  const parse = payloadParser(type, schema);
  const parseResult = result && parser(`the result schema of ${type}`, result, ResultError);
  return {
    type,
    // The schema takes objects; the server checks whether JSON can hold what is in them.
    submission(payload, options = {}) {
      const checked = parse(payload);
      // It cannot be waited for here. The handler finds out.
      if (checked instanceof Promise) checked.catch(() => {});
      return { ...defaults.value, ...named(options), type, payload: payload as JsonObject };
    },
    parse,
    parseResult: parseResult ?? ((value) => value as OutputOf<R>),
  };
}

/** Without those that are undefined, which name nothing. */
const named = (options: JobOptions): JobOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** Returns the value as the schema makes it, in a promise if the schema has asynchronous checks. */
type Parser<S extends StandardSchema> = (value: unknown) => OutputOf<S> | Promise<OutputOf<S>>;

/**
 * Makes the `parse` of a job type. It throws, or rejects with, a PayloadError that names each field that does not fit, on
 * one line. Throws a TypeError if the schema is none.
 *
 * @example
 * payloadParser("email.send", z.object({ to: z.email() }))({ to: "ada@example.org" }); // { to: "ada@example.org" }
 */
export function payloadParser<S extends StandardSchema>(type: string, schema: S): Parser<S> {
  return parser(`the schema of ${type}`, schema, PayloadError);
}

function parser<S extends StandardSchema>(name: string, schema: S, Fault: new (message: string) => Error): Parser<S> {
  if (!isSchema(schema))
    throw new TypeError(`${name} must implement Standard Schema, as those of zod, valibot and arktype do`);
  const read = (checked: Awaited<ReturnType<typeof checkWith>>): OutputOf<S> => {
    if (!checked.issues) return checked.value as OutputOf<S>;
    throw new Fault(z.prettifyError(checked).replaceAll("\n", " "));
  };
  return (value) => {
    const checked = checkWith(schema, value);
    return checked instanceof Promise ? checked.then(read) : read(checked);
  };
}
