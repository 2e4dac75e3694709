/** A uuid[] parameter. The ids must be UUIDs already: nothing is escaped. */
export function uuidArray(ids: readonly string[]): string {
  return `{${ids.join(",")}}`;
}

/** A text[] parameter. */
export function textArray(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text from outside (a Redis list, a path) may go into `uuidArray`. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}
