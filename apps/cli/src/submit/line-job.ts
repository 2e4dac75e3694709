import { createHash } from "node:crypto";
import { canonicalJson, findFaults, idempotencyKeyAccepts, parseIdempotencyKey, showValue } from "@atlasqueue/contract";
import type { JobFields } from "./job-fields.ts";

export type LineJob = { key: string; request: Record<string, unknown> } | { fault: string };

export type LineContext = {
  file_name: string;
  key_prefix: string;
  /** What a line leaves out. */
  defaults: JobFields;
};

/**
 * The job a line of NDJSON asks for, or what is wrong with it. The API checks the fields. A line without a key gets one
 * made from the file's name, its number and its content: sending the same file again makes nothing twice, and a changed
 * line is another job.
 */
export function lineJob(text: string, line_number: number, context: LineContext): LineJob {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { fault: `not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { fault: `must be a JSON object {type, payload, …}; got ${showValue(value)}` };
  // Before anything else: very deep JSON can be parsed, but not written or hashed again.
  const [wrong] = findFaults(value);
  if (wrong) return { fault: `${wrong.pointer} ${wrong.message}` };

  const { idempotency_key: own, ...fields } = value as Record<string, unknown>;
  const request = withDefaults(fields, context.defaults);
  if (own === undefined) return { key: derivedKey(request, line_number, context), request };
  const key = typeof own === "string" ? parseIdempotencyKey(own) : undefined;
  if (key === undefined) return { fault: `/idempotency_key must be ${idempotencyKeyAccepts}; got ${showValue(own)}` };
  return { key, request };
}

/** A line that says when to run needs no delay. */
function withDefaults(fields: Record<string, unknown>, defaults: JobFields): Record<string, unknown> {
  const { delay_seconds, ...others } = defaults;
  const delayed = fields.run_at === undefined && delay_seconds !== undefined ? { delay_seconds } : {};
  return { ...others, ...delayed, ...fields };
}

function derivedKey(request: unknown, line_number: number, { file_name, key_prefix }: LineContext): string {
  const hash = createHash("sha256").update(`${file_name}\n${line_number}\n${canonicalJson(request)}`);
  return `${key_prefix}:${line_number}:${hash.digest("hex").slice(0, 32)}`;
}
