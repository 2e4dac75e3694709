import { findFaults, pointerSegment, type Json } from "../checks/json.ts";
import { limits } from "../checks/limits.ts";

/** A result as JSON reads it back and its length as JSON, or why it cannot be stored. */
export type Storable = { kind: "storable"; result: Json; bytes: number } | { kind: "refused"; reason: unknown };

/**
 * What a handler returned, as it will be read back. What JSON would silently change is refused: NaN and infinite
 * numbers, which would be null, and maps, sets, errors and the like, which would be {}. Nothing (undefined) is null.
 * Never throws.
 *
 * @example
 * storableResult({ at: new Date(0) }); // { kind: "storable", result: { at: "1970-01-01T00:00:00.000Z" }, bytes: 33 }
 * storableResult(new Map());           // { kind: "refused", reason: Error("the result at / is a Map, which …") }
 */
export function storableResult(returned: unknown): Storable {
  if (returned === undefined || returned === null) return { kind: "storable", result: null, bytes: 4 };
  try {
    const text = JSON.stringify(returned) as string | undefined;
    if (text === undefined) throw new Error(`a ${typeof returned} cannot be stored`);
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > limits.result_bytes_max)
      throw new Error(`the result is ${bytes} bytes, at most ${limits.result_bytes_max} are stored`);
    const result = JSON.parse(text) as Json;
    const fault = findFaults(result)[0] ?? findLoss(returned, "");
    if (fault) throw new Error(`the result at ${fault.pointer || "/"} ${fault.message}`);
    return { kind: "storable", result, bytes };
  } catch (reason) {
    return { kind: "refused", reason };
  }
}

/** What JSON has no form for, by its JavaScript name. */
const lossy = new Set([
  "Map",
  "Set",
  "WeakMap",
  "WeakSet",
  "WeakRef",
  "Error",
  "RegExp",
  "Promise",
  "Function",
  "AsyncFunction",
  "GeneratorFunction",
  "Symbol",
  "ArrayBuffer",
  "SharedArrayBuffer",
]);

type Loss = { pointer: string; message: string };

/**
 * The first part of a value that JSON drops or changes. It has been through JSON, so it is neither too deep nor
 * circular.
 */
function findLoss(value: unknown, pointer: string): Loss | undefined {
  if (typeof value === "number" && !Number.isFinite(value))
    return { pointer, message: `is ${value}, which JSON does not have; use null or a string` };
  if (typeof value === "function" || typeof value === "symbol")
    return { pointer, message: `is a ${typeof value}, which JSON does not have` };
  if (typeof value !== "object" || value === null) return undefined;
  if (value instanceof Date && Number.isNaN(value.getTime())) return { pointer, message: "is a Date without a time" };
  // It defines its own JSON form.
  if ("toJSON" in value && typeof value.toJSON === "function") return undefined;
  const name = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (lossy.has(name))
    return {
      pointer,
      message: `is ${/^[AE]/.test(name) ? "an" : "a"} ${name}, which JSON would make {} of; return what is in it`,
    };
  for (const [key, inner] of Object.entries(value)) {
    const loss = findLoss(inner, `${pointer}/${pointerSegment(key)}`);
    if (loss) return loss;
  }
  return undefined;
}
