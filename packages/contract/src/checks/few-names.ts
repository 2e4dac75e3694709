import { createShares } from "./shares.ts";

/**
 * Names for what must stay few, such as the series of a metric: the first `names_max` there are, of which no tenant may
 * have more than its share; `other` in place of the rest.
 *
 * @example
 * const nameOf = fewNames(200, "other");
 * nameOf(tenant, job.type);
 */
export function fewNames(names_max: number, other: string): (holder: string, name: string) => string {
  const names = new Set<string>();
  const shares = createShares(names_max);
  return (holder, name) => {
    if (names.has(name)) return name;
    if (shares.take(holder, 1) !== "taken") return other;
    names.add(name);
    return name;
  };
}
