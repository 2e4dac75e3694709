import type { Facts, Limit } from "../facts.ts";
import { mayBeForgotten } from "../trouble.ts";

/**
 * The limits of a queue that may have been in force at some time of a span: changes under way count, and those nobody
 * knows the end of. Undefined when there may have been none.
 */
export function perhapsInForce(
  facts: Facts,
  changes: readonly Limit[],
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): readonly Limit[] | undefined {
  // One that a failover lost replaces nothing.
  const kept = (one: Limit) => one.known === "ok" && !mayBeForgotten(facts, one.to_ms);
  const begun = changes.filter((one) => one.from_ms <= to_ms && one.known !== "fail");
  if (!begun.some((one) => one.to_ms <= from_ms)) return undefined;
  return begun.filter(
    (one) => !begun.some((later) => kept(later) && later.to_ms <= from_ms && later.from_ms > one.to_ms),
  );
}

/** The widest of them; `Infinity` without any, or where one has no such number. */
export const widestOf = (
  limits: readonly Limit[] | undefined,
  numberOf: (limit: Limit) => number | null | undefined,
): number => (limits ? Math.max(...limits.map((one) => numberOf(one) ?? Infinity)) : Infinity);
