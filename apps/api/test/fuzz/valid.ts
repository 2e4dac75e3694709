import * as fc from "fast-check";
import { document } from "../against-document.ts";

/** As much of JSON Schema as the document uses. */
export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  dependentSchemas?: Record<string, unknown>;
  dependentRequired?: Record<string, string[]>;
};

/** Long enough to be interesting, short enough for thousands of requests. */
const items_max = 4;
const chars_max = 300;

/** What opens the routes that ask for the admin's secret. */
export const fuzzedSecret = "correct horse battery";

/** Values a schema accepts, or nearly: a schema with a rule not known here yields some that it refuses. */
export function validFor(schema: JsonSchema, name = ""): fc.Arbitrary<unknown> {
  if (schema.$ref) return validFor(componentAt(schema.$ref), name);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => validFor(one, name)));
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "string":
      return text(schema, name);
    case "integer":
    case "number":
      return number(schema, name);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array": {
      const list = fc.array(validFor(schema.items ?? {}, name), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? items_max, items_max),
      });
      return schema.items?.properties?.["depends_on"] ? fc.oneof(list, list.map(asFlow)) : list;
    }
    case "object":
      if (name === "params") return fc.oneof(toolCall, fc.dictionary(fc.string(), json, { maxKeys: 4 }));
      return schema.properties ? object(schema, schema.properties) : fc.dictionary(fc.string(), json, { maxKeys: 4 });
    default:
      return json;
  }
}

/** Made at random, jobs seldom wait for one another as they may. */
const asFlow = (jobs: unknown[]) =>
  jobs.map((job, at) => {
    const { idempotency_key: _key, unique: _unique, ...rest } = job as Record<string, unknown>;
    return { ...rest, ref: `r${at}`, depends_on: at === 0 ? [] : [`r${at - 1}`] };
  });

const anyJson = fc.jsonValue({ maxDepth: 3, stringUnit: "grapheme" });
/** Mostly without the numbers that are refused: half of all values have one. */
const json = fc.oneof({ weight: 5, arbitrary: anyJson.map(withSafeNumbers) }, { weight: 1, arbitrary: anyJson });

function withSafeNumbers(value: unknown): unknown {
  const safe = (_key: string, one: unknown) => (typeof one === "number" ? Math.trunc(one % 1e9) : one);
  return JSON.parse(JSON.stringify(value, safe)) as unknown;
}

/** Of a message of MCP: a call of a tool, with arguments that are mostly wrong. */
const toolCall = fc.record({
  name: fc.constantFrom("list_jobs", "enqueue_job", "get_job_status", "replay_dead", "explain_job", "pause_queue"),
  arguments: fc.dictionary(
    fc.constantFrom("job_id", "queue_name", "payload", "limit", "idempotency_key", "cursor", "dry_run", "died_before"),
    fc.oneof(json, fc.uuid(), fc.constant("default")),
    { maxKeys: 6 },
  ),
});

function object(schema: JsonSchema, properties: Record<string, JsonSchema>): fc.Arbitrary<unknown> {
  // The document uses this for two fields that exclude each other.
  const exclusive = Object.keys(schema.dependentSchemas ?? {});
  const shown = Object.entries(properties).filter(([name]) => !exclusive.includes(name));
  const made = fc.record(Object.fromEntries(shown.map(([name, inner]) => [name, validFor(inner, name)])), {
    requiredKeys: schema.required ?? [],
  });
  const needs = Object.entries(schema.dependentRequired ?? {});
  const without = (value: object, names: readonly string[]) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
  const unmet = (value: object) => needs.filter(([, others]) => !others.every((other) => other in value));
  return needs.length === 0
    ? made
    : made.map((value) =>
        without(
          value,
          unmet(value).map(([name]) => name),
        ),
      );
}

function text(
  { format, pattern, minLength = 0, maxLength = chars_max }: JsonSchema,
  name: string,
): fc.Arbitrary<string> {
  // A string on OpenQueue's surface, where what is no UUID is a lease that is not held.
  if (format === "uuid" || name === "lease_token")
    return fc.oneof(fc.uuid(), { weight: 6, arbitrary: name === "lease_token" ? knownToken : knownId });
  if (format === "date-time")
    return fc
      .date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
      .map((at) => at.toISOString());
  if (format === "email") return fc.constantFrom("a@b.example", "c.d+e@f.example");
  if (name === "X-Admin-Secret") return fc.constant(fuzzedSecret);
  const length = { minLength: Math.max(minLength, pattern ? 1 : 0), maxLength: Math.min(maxLength, chars_max) };
  // Otherwise no job would be in a queue that is leased from.
  if (name === "queue" || name === "queue_name") return fc.constantFrom("default", "default", "default", "other");
  if (name === "method")
    return fc.constantFrom("tools/call", "tools/list", "resources/read", "initialize", "tasks/get");
  if (name === "cron") return fc.constantFrom("*/15 * * * *", "30 2 29 2 *", "0 0 L * FRI#2", "0 0 30 2 *");
  if (name === "toolsets") return fc.constantFrom("read", "operate", "read,work", "all");
  if (name === "timezone") return fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Mars/X");
  // Few, so that jobs of a batch wait for one another, and for jobs that exist.
  if (name === "ref") return fc.constantFrom("a", "b", "c");
  if (name === "depends_on") return fc.oneof({ weight: 3, arbitrary: fc.constantFrom("a", "b", "c") }, knownId);
  // Of a schedule: few, so that requests meet those that exist.
  if (name === "name" && pattern) return fc.constantFrom("nightly", "hourly", "a.b:c-d_e");
  // Every other pattern of the document takes these.
  if (pattern) return fc.string({ ...length, unit: fc.constantFrom(..."aZ09._:-") });
  return fc.string({ ...length, unit: "grapheme" });
}

function number({ type, minimum = -1e6, maximum = 1e6 }: JsonSchema, name: string): fc.Arbitrary<number> {
  // A request that waits is a request that is not followed by another.
  if (name === "wait_seconds") return fc.constant(0);
  // One lease would take all the jobs there are.
  if (name === "max_jobs") return fc.constantFrom(1, 1, 1, 2, maximum);
  return type === "integer"
    ? fc.integer({ min: minimum, max: maximum })
    : fc.double({ min: minimum, max: maximum, noNaN: true });
}

/** An id or a token that an earlier answer had; `knownJobs` puts it in. The same number is of the same job. */
const knownId = fc.constantFrom(0, 0, 0, 0, 1, 2, 2, 3).map((at) => `known-id-${at}`);
const knownToken = fc.constantFrom(0, 0, 0, 0, 1, 1, 2).map((at) => `known-token-${at}`);

function componentAt(reference: string): JsonSchema {
  const name = reference.replace("#/components/schemas/", "");
  const schema = document.components?.schemas?.[name];
  if (!schema) throw new Error(`The document has no ${reference}`);
  return schema as JsonSchema;
}
