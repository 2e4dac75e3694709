import { executeOn } from "../statement.ts";
import type { Deps } from "../../deps.ts";

/**
 * By how much the database's clock is ahead of this machine's, in milliseconds: as exact as half the round trip.
 *
 * @example
 * const skew_ms = await clockSkewMs(deps);
 */
export async function clockSkewMs(deps: Pick<Deps, "database">): Promise<number> {
  const execute = executeOn(deps.database);
  // Once before, so that what is measured is no connection's opening.
  await execute({ text, params: [] });
  const asked = Date.now();
  const [row] = await execute<{ now: number }>({ text, params: [] });
  return (row?.now ?? Number.NaN) - (asked + Date.now()) / 2;
}

const text = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now";
