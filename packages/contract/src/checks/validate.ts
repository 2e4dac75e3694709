import { z } from "zod";
import { findFaults, pointerSegment, showValue, type Fault } from "./json.ts";

const issues_max = 20;
/** More than any schema has. */
const fields_max = 100;

export type Checked<T> = { kind: "valid"; value: T } | { kind: "invalid"; faults: Fault[] };

/**
 * Check untrusted JSON against a schema of this package. Each fault names the field, what it takes and what it got.
 *
 * @example
 * validate(submitJob, { type: "a", max_attempts: 26 });
 * // { kind: "invalid", faults: [{ pointer: "/max_attempts", message: "must be an integer from 1 to 25; got 26" }] }
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown): Checked<z.output<S>> {
  const strangers = manyStrangers(schema, input);
  if (strangers.length > 0) return { kind: "invalid", faults: strangers };
  const faults = findFaults(input);
  if (faults.length > 0) return { kind: "invalid", faults };
  // zod silently drops a `__proto__` key, so it would be neither stored nor refused.
  if (typeof input === "object" && input !== null && Object.hasOwn(input, "__proto__"))
    return { kind: "invalid", faults: [{ pointer: "/__proto__", message: "is not a field of this request" }] };
  const parsed = schema.safeParse(input);
  if (parsed.success) return { kind: "valid", value: parsed.data };
  // A list of a hundred thousand bad items has as many issues, and no one reads past the first few.
  const issues = parsed.error.issues.slice(0, issues_max);
  return {
    kind: "invalid",
    faults: once(issues.flatMap((issue) => faultsOf(schema, input, issue))).slice(0, issues_max),
  };
}

/** For a body with far more fields than any request has: zod is slow to list thousands of them. */
function manyStrangers(schema: z.ZodType, input: unknown): Fault[] {
  if (!(schema instanceof z.ZodObject) || typeof input !== "object" || input === null || Array.isArray(input))
    return [];
  const keys = Object.keys(input);
  if (keys.length <= fields_max) return [];
  const strange = keys.filter((key) => !Object.hasOwn(schema.shape, key));
  return strange.slice(0, issues_max).map((key) => stranger("", key));
}

function stranger(pointer: string, key: string): Fault {
  return { pointer: `${pointer}/${pointerSegment(key)}`, message: "is not a field of this request" };
}

/** A value that fails several checks of its schema has one fault: one sentence says what is accepted. */
function once(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((fault) => [`${fault.pointer} ${fault.message}`, fault])).values()];
}

function faultsOf(schema: z.ZodType, input: unknown, issue: z.core.$ZodIssue): Fault[] {
  const pointer = issue.path.map((part) => `/${pointerSegment(String(part))}`).join("");
  if (issue.code === "unrecognized_keys") return issue.keys.slice(0, 20).map((key) => stranger(pointer, key));
  if (issue.code === "custom" && issue.message.startsWith("must not")) return [{ pointer, message: issue.message }];
  const value = issue.path.reduce<unknown>(
    (at, part) => (at as Record<PropertyKey, unknown> | undefined)?.[part],
    input,
  );
  const accepts = descriptionAt(schema, issue.path);
  if (value === undefined) return [{ pointer, message: `is required: ${accepts}` }];
  return [{ pointer, message: `must be ${accepts}; got ${showValue(value)}` }];
}

/** The description of the schema at a path: "an integer from 1 to 25". */
function descriptionAt(schema: z.ZodType, path: PropertyKey[]): string {
  let at: z.core.$ZodType | undefined = schema;
  for (const part of path) at = at && memberOf(at, part);
  const described = at && (z.globalRegistry.get(at)?.description ?? z.globalRegistry.get(unwrap(at))?.description);
  return described ?? "a JSON object";
}

function memberOf(schema: z.core.$ZodType, part: PropertyKey): z.core.$ZodType | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) return inner.shape[part as string] as z.core.$ZodType | undefined;
  if (inner instanceof z.ZodArray) return inner.element;
  return undefined;
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrap(schema.unwrap())
    : schema;
}
