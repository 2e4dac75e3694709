import type { RedisAddress } from "./address.ts";
import { SignalMisfitError, SignalUnavailableError } from "../signal.ts";

/** RPOP with a count, SMISMEMBER, ZRANGE BYSCORE and CLIENT LIST ID came with it. Valkey says 7.2 or more. */
const oldest_version = { major: 6, minor: 2 };

/** What INFO says about a server, as far as it matters here. `run_id` changes with every start. */
export type RedisServerFacts = {
  version: string | undefined;
  run_id: string | undefined;
  read_only: boolean;
  /** `standalone`, `cluster` or `sentinel`. */
  mode: string | undefined;
};

/** @example readFacts(await redis.info()).version; // "7.2.4" */
export function readFacts(info: string): RedisServerFacts {
  const fields = new Map(
    info.split("\r\n").flatMap((line) => {
      const colon = line.indexOf(":");
      return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
  return {
    version: fields.get("redis_version"),
    run_id: fields.get("run_id"),
    mode: fields.get("redis_mode"),
    read_only: fields.get("role") === "slave" && fields.get("slave_read_only") !== "0",
  };
}

/**
 * Why the server cannot be used in the way the URL says; undefined when, as far as INFO says, it can. A cluster's servers
 * change their roles, and answer accordingly.
 */
export function unfitness(
  { version, read_only, mode }: RedisServerFacts,
  kind: RedisAddress["kind"],
): SignalUnavailableError | undefined {
  if (version !== undefined && isTooOld(version))
    return new SignalMisfitError(
      `AtlasQueue needs Redis ${oldest_version.major}.${oldest_version.minor} or newer, or Valkey; the server at REDIS_URL is ${version}`,
    );
  if (mode === "sentinel")
    return new SignalMisfitError(
      "the server at REDIS_URL is a sentinel: use redis+sentinel://host:port,host:port/name",
    );
  if (mode === "cluster" && kind !== "cluster")
    return new SignalMisfitError(
      "the Redis at REDIS_URL is part of a cluster: use redis+cluster://host:port,host:port",
    );
  if (read_only && kind !== "cluster")
    return new SignalUnavailableError("the Redis at REDIS_URL is a replica, which takes no writes");
  return undefined;
}

function isTooOld(version: string): boolean {
  const [major = NaN, minor = 0] = version.split(".").map(Number);
  return major < oldest_version.major || (major === oldest_version.major && minor < oldest_version.minor);
}
