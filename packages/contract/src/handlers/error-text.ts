import { limits } from "../checks/limits.ts";

/** Errors behind an error: further ones say little about the job. */
const causes_max = 8;
const cause_chars_max = 500;
/** Of all of them together: what was thrown keeps the larger half. */
const causes_chars_max = 1_900;

/**
 * Anything a handler threw, as it is stored: "Type: message", then its causes, cut to 4,096 characters and safe for
 * PostgreSQL. `name` replaces the error's own. Never throws, whatever the value's getters do.
 *
 * @example
 * errorText(new TypeError("no address")); // "TypeError: no address"
 * errorText("boom");                      // "NonError: boom"
 * errorText(await fetch(url).catch((error) => error));
 * // "TypeError: fetch failed; cause: Error: connect ECONNREFUSED 10.0.0.1:443"
 */
export function errorText(thrown: unknown, name?: string): string {
  try {
    if (thrown instanceof Error) {
      const behind = storableText(causesText(thrown), causes_chars_max);
      const own = `${name ?? nameOf(thrown)}: ${String(thrown.message)}${codeOf(thrown)}`;
      return storableText(own, limits.error_chars_max - behind.length) + behind;
    }
    return storableText(
      `NonError: ${typeof thrown === "object" ? (JSON.stringify(thrown) ?? "null") : String(thrown)}`,
    );
  } catch {
    return `${name ?? "NonError"}: a value that cannot be shown`;
  }
}

/** Text a column can hold: without NUL, without lone surrogates, cut at the limit but never inside a pair. */
export function storableText(text: string, chars_max: number = limits.error_chars_max): string {
  const cut = text.slice(0, chars_max + 1).replaceAll("\0", "\u{fffd}");
  if (cut.length <= chars_max) return cut.toWellFormed();
  const ends_inside_pair =
    /[\ud800-\udbff]/.test(cut.charAt(chars_max - 1)) && /[\udc00-\udfff]/.test(cut.charAt(chars_max));
  return cut.slice(0, ends_inside_pair ? chars_max - 1 : chars_max).toWellFormed();
}

function nameOf(error: Error): string {
  const own = String(error.name);
  return own === "Error" && error.constructor.name !== "" ? error.constructor.name : own || "Error";
}

/**
 * Causes are on the first line, by which dead letters are grouped. PostgreSQL's `detail` has values that differ from job
 * to job, so it is on a line of its own.
 */
function causesText(thrown: Error): string {
  try {
    const causes = causesOf(thrown);
    const details = [thrown, ...causes].map((one) => textIn(one, "detail")).filter((detail) => detail !== "");
    return [
      ...causes.map((cause) => `; cause: ${storableText(briefly(cause), cause_chars_max)}`),
      ...details.map((detail) => `\ndetail: ${storableText(detail, cause_chars_max)}`),
    ].join("");
  } catch {
    return "";
  }
}

/** The `cause` of an error, an AggregateError's list, and what is behind those. The set makes a cycle end. */
function causesOf(thrown: Error): unknown[] {
  const found = new Set<unknown>([thrown]);
  for (const one of found) {
    if (!(one instanceof Error)) continue;
    const list: unknown = one instanceof AggregateError ? one.errors : [];
    for (const cause of [one.cause, ...(Array.isArray(list) ? list.slice(0, causes_max) : [])])
      if (cause !== undefined && cause !== null && found.size <= causes_max) found.add(cause);
  }
  return [...found].slice(1);
}

function briefly(cause: unknown): string {
  if (cause instanceof Error) return `${nameOf(cause)}: ${String(cause.message)}${codeOf(cause)}`;
  return typeof cause === "object" ? (JSON.stringify(cause) ?? "") : String(cause);
}

/** PostgreSQL's SQLSTATE or Node's code, unless the message has it. */
function codeOf(error: Error): string {
  const code = textIn(error, "code");
  return code === "" || String(error.message).includes(code) ? "" : ` (${code})`;
}

function textIn(thrown: unknown, key: "code" | "detail"): string {
  const value: unknown = thrown instanceof Error ? (thrown as Partial<Record<typeof key, unknown>>)[key] : undefined;
  return typeof value === "string" ? value : "";
}
