import { createClient, type Client } from "@atlasqueue/client";
import { checkOptions, NotSupportedError, type Refused } from "./refused.ts";

/** Where the API is, and a token if it asks for one. */
export type ConnectionOptions = { url: string; token?: string | undefined };
export type WithConnection = { connection: ConnectionOptions };

const api = 'Pass the AtlasQueue API: { url: "http://127.0.0.1:8000", token: "aq_…" }.';

const refusedOfAll: Refused = {
  prefix: "Give each application a tenant of its own, by its token.",
  telemetry: "Use `tracing` of @atlasqueue/client.",
  settings: "Throw RetryAfterError of @atlasqueue/client to choose a delay, or run jobs with @atlasqueue/worker.",
};
/** They tune BullMQ and Redis. */
const unneeded = ["skipVersionCheck", "skipMetasUpdate", "skipWaitingForReady", "streams"];

/** The client of a BullMQ object. Throws for options that have no effect here, and for a connection to Redis. */
export function connect(
  of: string,
  opts: WithConnection,
  taken: readonly string[] = [],
  refused: Refused = {},
): Client {
  // BullMQ needs neither: it takes the Redis of this machine.
  const { connection, ...others } = Object(opts) as Partial<WithConnection>;
  checkOptions(others, of, [...taken, ...unneeded], { ...refusedOfAll, ...refused });
  const { url, token } = Object(connection) as Partial<ConnectionOptions>;
  if (typeof url !== "string" || !/^https?:/.test(url)) throw new NotSupportedError("A connection to Redis", api);
  return createClient(token === undefined ? { url } : { url, token });
}
