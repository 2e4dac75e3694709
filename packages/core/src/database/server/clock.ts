import { executeOn } from "../statement.ts";
import type { Deps } from "../../deps.ts";

/**
 * How far the database's clock is ahead of this machine's, in milliseconds, accurate to half the round trip.
 *
 * @example
 * const skew_ms = await clockSkewMs(deps);
 */
export async function clockSkewMs(deps: Pick<Deps, "database">): Promise<number> {
  const execute = executeOn(deps.database);
  // Once before, so as not to measure the opening of a connection.
  await execute({ text, params: [] });
  const asked = Date.now();
  const [row] = await execute<{ now: number }>({ text, params: [] });
  return (row?.now ?? Number.NaN) - (asked + Date.now()) / 2;
}

const text = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now";
