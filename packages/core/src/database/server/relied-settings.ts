import type postgres from "../driver.ts";
import type { Patched } from "../driver.ts";

/**
 * The server's settings that our statements rely on: each sees what others committed while it waited for its locks,
 * NULL in an array is no text, and a time in milliseconds has all its digits.
 */
export const relied = { default_transaction_isolation: "read committed", array_nulls: "on", extra_float_digits: "1" };
export type Relied = keyof typeof relied;
const serialization_failure = "40001";
const protocol_violation = "08P01";

/** Poolers refuse connections that ask for what they do not know, each in its own words. */
export const isRefusedByPooler = (error: unknown): boolean => (error as { code?: unknown }).code === protocol_violation;

/**
 * Which of those settings our connections ask for as they open: those whose defaults here are others, as a program's start
 * has seen, and none where a pooler refuses connections that ask. `read committed` also once a statement has failed
 * without it: with `serializable`, another session's open transaction would make them fail for as long as it is open.
 *
 * @example
 * const settings = createReliedSettings(() => [sql, control]);
 * settings.hear(error);
 */
export function createReliedSettings(pools: () => readonly postgres.Sql[]) {
  const chosen = new Set<Relied>();
  let refused = false;
  // The driver looks at this for each connection.
  const settings = () => pools().map(({ options }) => options.connection as Record<string, unknown>);
  const choose = (names: readonly Relied[]): void => {
    const added = names.filter((name) => !chosen.has(name));
    if (refused || added.length === 0) return;
    for (const name of added) {
      chosen.add(name);
      for (const each of settings()) each[name] = relied[name];
    }
    for (const each of pools()) (each as unknown as Patched).retire();
  };
  return {
    choose,
    hear(error: unknown): void {
      if ((error as { code?: unknown }).code === serialization_failure) choose(["default_transaction_isolation"]);
      if (refused || chosen.size === 0 || !isRefusedByPooler(error)) return;
      refused = true;
      for (const each of settings()) for (const name of chosen) delete each[name];
    },
  };
}
