/**
 * Columns of rows as parameters: one array for each column, zipped by `unnest`. An array costs the server a third of
 * the same rows as JSON objects, and the driver has nothing to convert.
 */

/** A uuid[] parameter. The ids must be UUIDs already: nothing is escaped. */
export function uuidArray(ids: readonly string[]): string {
  return `{${ids.join(",")}}`;
}

/** A text[] parameter; any text without NUL. */
export function textArray(texts: readonly (string | null | undefined)[]): string {
  return `{${texts.map((text) => (text === null || text === undefined ? "NULL" : quoted(text))).join(",")}}`;
}

/** An array parameter of numbers. */
export function numberArray(numbers: readonly (number | null | undefined)[]): string {
  return `{${numbers.map((number) => number ?? "NULL").join(",")}}`;
}

/** A JSON array of texts that are JSON already: for `json_array_elements`, which needs no escaping at all. */
export function jsonArray(texts: readonly (string | null)[]): string {
  return `[${texts.map((text) => text ?? "null").join(",")}]`;
}

/**
 * An array parameter whose length the planner must not see. Seeing one id it would replan each execution, as that looks
 * cheaper than the kept plan, and spend more on planning (0.2 ms) than on the statement.
 */
export function hidden(parameter: string): string {
  return `(SELECT ${parameter})::${parameter.split("::")[1]}`;
}

/**
 * A column as no index has it, for rows that are named by their ids. When the statistics were made of a table in which
 * nothing was due, blocked or dead, PostgreSQL takes the index of what is for empty, and would look for the ids in all of it.
 *
 * @example
 * `WHERE id = ANY(ARRAY(SELECT id FROM due)) AND ${unindexed("due_at")} <= now()`;
 */
export function unindexed(column: string): string {
  return `(SELECT ${column})`;
}

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, "\\$&") : text}"`;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text from outside (a Redis list, a path) may go into `uuidArray`. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}
