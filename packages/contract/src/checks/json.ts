import { limits } from "./limits.ts";

export type Json = string | number | boolean | null | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** Where a value is wrong (RFC 6901 pointer) and why. */
export type Fault = { pointer: string; message: string };

/** A document with thousands of faults is answered with the first few. */
const faults_max = 20;
/** Of keys of 64 characters, a hundred levels deep, each would have thousands. */
const pointer_chars_max = 200;

/**
 * What JSON allows but PostgreSQL or JavaScript would refuse, round or lose: NUL and lone surrogates, numbers outside
 * the exact range, nesting past the limit. Pass a parsed value; an empty list means that it can be stored unchanged.
 *
 * @example
 * findFaults({ note: "a\u0000b" }); // [{ pointer: "/note", message: "must not contain the NUL character…" }]
 */
export function findFaults(value: unknown, depth_max: number = limits.json_depth_max): Fault[] {
  if (isStorable(value, depth_max)) return [];
  const faults: Fault[] = [];
  visit(value, "", depth_max, faults);
  return faults;
}

/** Whether `visit` would find nothing. Every request passes through here, so no pointers are built. */
function isStorable(value: unknown, depth_left: number): boolean {
  if (typeof value === "string") return faultOfText(value) === undefined;
  if (typeof value === "number") return faultOfNumber(value) === undefined;
  if (typeof value !== "object" || value === null) return true;
  if (depth_left === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isStorable(item, depth_left - 1));
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object))
    if (faultOfText(key) !== undefined || !isStorable(object[key], depth_left - 1)) return false;
  return true;
}

function visit(value: unknown, pointer: string, depth_left: number, faults: Fault[]): void {
  if (faults.length >= faults_max) return;
  if (typeof value === "string") {
    const fault = faultOfText(value);
    if (fault) faults.push(faultAt(pointer, fault));
  } else if (typeof value === "number") {
    const fault = faultOfNumber(value);
    if (fault) faults.push(faultAt(pointer, fault));
  } else if (typeof value === "object" && value !== null) {
    if (depth_left === 0) {
      faults.push(faultAt(pointer, `must not nest deeper than ${limits.json_depth_max} levels`));
      return;
    }
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at += 1) visit(value[at], `${pointer}/${at}`, depth_left - 1, faults);
      return;
    }
    for (const key of Object.keys(value)) {
      if (faults.length >= faults_max) return;
      const here = `${pointer}/${pointerSegment(key)}`;
      const fault = faultOfText(key);
      if (fault) faults.push(faultAt(here, `the key ${fault}`));
      visit((value as Record<string, unknown>)[key], here, depth_left - 1, faults);
    }
  }
}

const faultAt = (pointer: string, message: string): Fault => ({
  pointer: pointer.slice(0, pointer_chars_max).toWellFormed(),
  message,
});

function faultOfText(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain the NUL character \\u0000";
  if (!text.isWellFormed()) return "must not contain a lone surrogate (\\ud800-\\udfff without its partner)";
  return undefined;
}

function faultOfNumber(value: number): string | undefined {
  if (!Number.isFinite(value)) return "must be a finite number; use a string for anything larger";
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return "must be an integer within ±9007199254740991 (2^53 - 1), as larger ones are rounded; use a string";
  return undefined;
}

/**
 * One key as a segment of a JSON pointer. Long keys are cut and unprintable ones escaped, as pointers end up in logs.
 */
export function pointerSegment(key: string): string {
  const visible = key.replaceAll(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const escaped = visible.replaceAll("~", "~0").replaceAll("/", "~1").toWellFormed();
  return escaped.length > 64 ? `${escaped.slice(0, 64).toWellFormed()}…` : escaped;
}

/**
 * JSON text with every object's keys in a fixed order, so that equal documents give equal text. Expects a value that
 * `findFaults` found no fault with. Members that are undefined are left out, as in JSON.stringify.
 *
 * @example
 * canonicalJson({ b: 1, a: [true] }); // '{"a":[true],"b":1}'
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const object = value as Record<string, unknown>;
  let text = "";
  for (const key of Object.keys(object).sort()) {
    if (object[key] === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(object[key])}`;
  }
  return `{${text}}`;
}

/** A value as an error message shows it: JSON on one line, cut to 100 characters. */
export function showValue(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text;
}
