import type { Deps } from "../../deps.ts";
import { textArray } from "../literals.ts";
import { executeOn } from "../statement.ts";

/**
 * The server's connections, from any client: `open` ones, the `busy` among them, those of AtlasQueue, and how many it
 * allows.
 */
export type ServerConnections = { open: number; busy: number; ours: number; max: number };

/**
 * How many of the server's connections are taken. `max` leaves out those reserved for superusers. Without the right to
 * see what others do, theirs count as not busy.
 *
 * @example
 * const { open, max } = await serverConnections(deps);
 */
export async function serverConnections(deps: Pick<Deps, "database">): Promise<ServerConnections> {
  const [row] = await executeOn(deps.database)<ServerConnections>({ text: count, params: [] });
  return row ?? { open: 0, busy: 0, ours: 0, max: 0 };
}

const count = `
  SELECT count(*)::int AS open,
    count(*) FILTER (WHERE state <> 'idle' AND pid <> pg_backend_pid())::int AS busy,
    count(*) FILTER (WHERE application_name LIKE 'atlasqueue%')::int AS ours,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS max
  FROM pg_stat_activity WHERE backend_type = 'client backend'`;

/** Settings of the server, in this session; sizes in bytes. */
export type ServerSetting = { name: string; setting: string; bytes: number | null };

export async function serverSettings(
  deps: Pick<Deps, "database">,
  names: readonly string[],
): Promise<readonly ServerSetting[]> {
  return executeOn(deps.database)<ServerSetting>({ text: settings, params: [textArray(names)] });
}

const settings = `
  SELECT name, setting, CASE WHEN unit IN ('kB', '8kB', 'MB') THEN pg_size_bytes(current_setting(name)) END::float8 AS bytes
  FROM pg_settings WHERE name = ANY($1::text[])`;

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
