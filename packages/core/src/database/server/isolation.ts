import type postgres from "../driver.ts";
import type { Patched } from "../driver.ts";

const name = "default_transaction_isolation";
const serialization_failure = "40001";
const protocol_violation = "08P01";

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
    for (const each of settings()) each[name] = "read committed";
    for (const each of pools()) (each as unknown as Patched).retire();
  };
  return {
    choose,
    hear(error) {
      const { code, message } = error as { code?: unknown; message?: unknown };
      if (code === serialization_failure) choose();
      if (state !== "chosen" || code !== protocol_violation || !String(message).includes(name)) return;
      state = "refused";
      for (const each of settings()) delete each[name];
    },
  };
}
