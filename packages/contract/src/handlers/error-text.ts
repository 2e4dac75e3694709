import { limits } from "../checks/limits.ts";

/**
 * Anything a handler threw, as it is stored: "Type: message", cut to 4,096 characters and safe for PostgreSQL. Never
 * throws, whatever the value's getters do.
 *
 * @example
 * errorText(new TypeError("no address")); // "TypeError: no address"
 * errorText("boom");                      // "NonError: boom"
 */
export function errorText(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return storableText(`${nameOf(thrown)}: ${String(thrown.message)}`);
    return storableText(
      `NonError: ${typeof thrown === "object" ? (JSON.stringify(thrown) ?? "null") : String(thrown)}`,
    );
  } catch {
    return "NonError: a value that cannot be shown";
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
