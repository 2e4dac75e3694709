/** Which groups of dead letters are shown; a part of the page's address. */
export type DeadFilter = { type?: string };

export function readDeadFilter(given: Record<string, unknown>): DeadFilter {
  return typeof given["type"] === "string" && given["type"] !== "" ? { type: given["type"] } : {};
}
