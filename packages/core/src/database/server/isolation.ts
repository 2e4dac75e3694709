import type postgres from "../driver.ts";
import type { Patched } from "../driver.ts";

/** Our statements are written for it: each sees what others committed while it waited for its locks. */
export const isolation_level = "read committed";
const name = "default_transaction_isolation";
const serialization_failure = "40001";
const protocol_violation = "08P01";

/** Poolers refuse connections that ask for what they do not know, each in its own words. */
export const isRefusedByPooler = (error: unknown): boolean => (error as { code?: unknown }).code === protocol_violation;

/**
 * Whether our connections ask for `read committed` as they open. Statements that are sent alone run under the server's
 * default: with `serializable`, somebody's open transaction would make them fail for as long as it is open. They ask once
 * one has failed so, or a program's start has looked, and no more where a pooler refuses connections that ask.
 *
 * @example
 * const isolation = createIsolation(() => [sql, control]);
 * isolation.hear(error);
 */
export function createIsolation(pools: () => readonly postgres.Sql[]): { choose(): void; hear(error: unknown): void } {
  let state: "by_default" | "chosen" | "refused" = "by_default";
  // The driver looks at this for each connection.
  const settings = () => pools().map(({ options }) => options.connection as Record<string, unknown>);
  const choose = (): void => {
    if (state !== "by_default") return;
    state = "chosen";
    for (const each of settings()) each[name] = isolation_level;
    for (const each of pools()) (each as unknown as Patched).retire();
  };
  return {
    choose,
    hear(error) {
      if ((error as { code?: unknown }).code === serialization_failure) choose();
      if (state !== "chosen" || !isRefusedByPooler(error)) return;
      state = "refused";
      for (const each of settings()) delete each[name];
    },
  };
}
