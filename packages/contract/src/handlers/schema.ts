import { z } from "zod";
import { heedChecks } from "./heed-checks.ts";
import { mayWait } from "./may-wait.ts";

/** A schema of any library that implements https://standardschema.dev. */
export type StandardSchema<Input = unknown, Output = unknown> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked | Promise<Checked>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
};
type Types<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>;
export type InputOf<S extends StandardSchema> = Types<S>["input"];
export type OutputOf<S extends StandardSchema> = Types<S>["output"];

/** The value as the schema makes it, or what does not fit. */
type Checked = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] };
type Issue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** Whether a value of JavaScript without types is a schema. Those of arktype are functions. */
export function isSchema(value: unknown): value is StandardSchema {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

/** Runs a schema. The promise is for one with asynchronous checks. */
export function checkWith(schema: StandardSchema, value: unknown): Checked | Promise<Checked> {
  return schema instanceof z.core.$ZodType ? checkWithZod(schema, value) : schema["~standard"].validate(value);
}

/**
 * Asynchronous from the start if a check may be. The standard's `validate` of zod first runs the checks synchronously,
 * drops the promise, which may reject unhandled, and then runs them again. Without asynchronous checks, zod is eight times
 * as fast.
 */
function checkWithZod(schema: z.core.$ZodType, value: unknown): Checked | Promise<Checked> {
  const context = { async: mayWait(schema) };
  if (context.async) heedChecks(schema);
  const finish = ({ value: made, issues }: z.core.ParsePayload): Checked => {
    if (issues.length === 0) return { value: made };
    const config = z.core.config();
    return { issues: issues.map((issue) => z.core.util.finalizeIssue(issue, context, config)) };
  };
  const parsed = schema._zod.run({ value, issues: [] }, context);
  return parsed instanceof Promise ? parsed.then(finish) : finish(parsed);
}
