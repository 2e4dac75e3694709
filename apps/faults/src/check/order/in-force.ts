import type { Limit } from "../facts.ts";

/**
 * The widest of a queue's limits that may have been in force at some time of a span: changes under way count, and those
 * nobody knows the end of. `Infinity` when there may have been none.
 */
export function perhapsInForce(
  changes: readonly Limit[],
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
  numberOf: (limit: Limit) => number | null | undefined,
): number {
  const begun = changes.filter((one) => one.from_ms <= to_ms && one.known !== "fail");
  const standing = begun.filter(
    (one) => !begun.some((later) => later.known === "ok" && later.to_ms <= from_ms && later.from_ms > one.to_ms),
  );
  const unset = !begun.some((one) => one.to_ms <= from_ms);
  if (unset) return Infinity;
  return Math.max(...standing.map((one) => numberOf(one) ?? Infinity));
}
