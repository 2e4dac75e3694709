import { limits } from "./limits.ts";

// Apart from the schema, so that a page that only checks a key does not carry zod.

/** What an Idempotency-Key header must be, as error messages and the docs put it. */
export const idempotencyKeyAccepts = `1 to ${limits.idempotency_key_chars_max} printable ASCII characters, sent once, that do not start with schedule:`;

// Not all of them spaces. Linear in the length, as texts of a megabyte come here too. The schedules' slots have their
// keys under that prefix: another job with such a key would take the slot's place.
export const printableKey = /^(?!schedule:) *[!-~][ -~]*$/;

/**
 * The key in an `Idempotency-Key` header, or undefined when it is not one. A quoted structured-field string (RFC 9651,
 * as in the IETF draft for the header) means the same key as the bare text.
 *
 * @example
 * parseIdempotencyKey('"order-17"'); // "order-17"
 * parseIdempotencyKey("order-17");   // "order-17"
 */
export function parseIdempotencyKey(header: string): string | undefined {
  const text = header.trim();
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text);
  const key = quoted ? (quoted[1] ?? "").replaceAll(/\\(["\\])/g, "$1") : text;
  return isIdempotencyKey(key) ? key : undefined;
}

/** Whether a text can be an idempotency key: 1 to 512 printable ASCII characters, not all of them spaces. */
export function isIdempotencyKey(key: string): boolean {
  return key.length <= limits.idempotency_key_chars_max && printableKey.test(key);
}
