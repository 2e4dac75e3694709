import { findFaults, type Json } from "../checks/json.ts";
import { limits } from "../checks/limits.ts";

/**
 * What a thrown error tells programs: its own `data`, as JSON will read it back. Undefined without one, or when it
 * cannot be stored or exceeds 16 KiB: a failure must not fail because of what it carries. Other properties are left
 * out, as libraries attach requests, credentials included, to what they throw. Never throws.
 *
 * @example
 * errorData(Object.assign(new Error("no stock"), { data: { sku: "tea" } })); // { sku: "tea" }
 */
export function errorData(thrown: unknown): Json | undefined {
  try {
    if (!(thrown instanceof Error) || !("data" in thrown)) return undefined;
    const text = JSON.stringify(thrown.data) as string | undefined;
    if (text === undefined || new TextEncoder().encode(text).length > limits.error_data_bytes_max) return undefined;
    const data = JSON.parse(text) as Json;
    return findFaults(data).length === 0 ? data : undefined;
  } catch {
    return undefined;
  }
}

/** The `result` of a dead job whose last error carried data; otherwise null. */
export type DeadResult = { error_data: Json };

/**
 * A stored error split into its parts: "Type: message", and the data that came with it.
 *
 * @example
 * readError({ last_error: "OutOfStock: no tea", result: { error_data: { sku: "tea" } } });
 * // { name: "OutOfStock", message: "no tea", data: { sku: "tea" } }
 */
export function readError({ last_error, result }: { last_error: string | null; result: Json }): JobError {
  const [, name = "Error", message = ""] = /^([^\s:]+): (.*)$/s.exec(last_error ?? "") ?? [
    undefined,
    "Error",
    last_error ?? "",
  ];
  const data = typeof result === "object" && result !== null && !Array.isArray(result) ? result.error_data : undefined;
  return { name, message, ...(data === undefined ? {} : { data }) };
}

/** Why a job failed, as its handler threw it. */
export type JobError = { name: string; message: string; data?: Json };
