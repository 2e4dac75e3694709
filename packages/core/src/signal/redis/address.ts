import { shownUrl } from "../../settings/setting-error.ts";

export type Endpoint = { host: string; port: number };

type Login = { username: string | undefined; password: string | undefined };

/** Where a Redis is, as its URL says. `tls` is true for `rediss`; `family` is ioredis', 0 for IPv4 and IPv6. */
export type RedisAddress = Login & { tls: boolean; family?: number | undefined } & (
    | { kind: "server"; server: Endpoint; database: number }
    /** The sentinels know which server is the master of the set of that name. */
    | { kind: "sentinel"; sentinels: Endpoint[]; set: string; database: number; sentinel_login: Login }
    /** Some of the servers of a cluster; they know the others. */
    | { kind: "cluster"; servers: Endpoint[] }
  );

/** What a URL may look like, to complete "must be …". */
export const redisUrlAccepts =
  "a URL such as redis://host:6379, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379 " +
  "(rediss… for TLS)";

/** A URL that cannot be used. Shows no secret. */
export class RedisUrlError extends Error {
  override readonly name = "RedisUrlError";
  /** Completes "REDIS_URL must …". */
  readonly fault: string;
  constructor(fault: string) {
    super(`the URL of Redis must ${fault}`);
    this.fault = fault;
  }
}

const default_port = 6_379;
const default_sentinel_port = 26_379;
const databases_max = 65_535;

/**
 * Reads `redis://`, `redis+sentinel://` and `redis+cluster://`, and the same with `rediss`. Names and passwords may be
 * percent-encoded. Throws `RedisUrlError`.
 *
 * @example
 * parseRedisUrl("redis+sentinel://:secret@10.0.0.1,10.0.0.2/jobs?sentinel_password=other").kind; // "sentinel"
 */
export function parseRedisUrl(url: string): RedisAddress {
  const [, scheme = "", way, userinfo, authority, path = "", query = ""] =
    /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(\?[^#]*)?$/i.exec(url) ?? [];
  const wrong = (accepts: string) => new RedisUrlError(`${accepts}; got ${shownUrl(url)}`);
  if (authority === undefined) throw wrong(`be ${redisUrlAccepts}`);

  const decoded = (text: string | undefined, what: string): string | undefined => {
    if (text === undefined || text === "") return undefined;
    try {
      return decodeURIComponent(text);
    } catch {
      throw wrong(`have ${what} whose % signs are followed by two hexadecimal digits (a % itself is %25)`);
    }
  };
  const fault = (text: string): never => {
    // What looks like a server is the beginning of a password.
    if (userinfo === undefined && url.includes("@"))
      throw wrong("have a password whose /, ? and # are percent-encoded (%2F, %3F, %23)");
    throw wrong(
      `name each server as host or host:port with a port from 1 to 65535, separated by commas (not ${JSON.stringify(text)})`,
    );
  };

  const endpoints = authority
    .split(",")
    .map(
      (text) => endpoint(text, way?.toLowerCase() === "sentinel" ? default_sentinel_port : default_port) ?? fault(text),
    );

  const asked = new URLSearchParams(query);
  const allowed = way?.toLowerCase() === "sentinel" ? ["database", "sentinel_username", "sentinel_password"] : [];
  allowed.push("family");
  const has = `only ${allowed.join(", ")} in its query, once each`;
  for (const asked_for of asked.keys())
    if (!allowed.includes(asked_for) || asked.getAll(asked_for).length > 1)
      throw wrong(`have ${has}${asked_for.includes("@") ? "" : ` (not ${JSON.stringify(asked_for)})`}`);

  const family = asked.get("family");
  if (family !== null && !/^[046]$/.test(family)) throw wrong("have a family of 0, 4 or 6");
  const [user, ...rest] = userinfo?.split(":") ?? [];
  const login = {
    username: decoded(user, "a user name"),
    password: decoded(rest.join(":"), "a password"),
    tls: scheme.toLowerCase() === "rediss",
    family: family === null ? undefined : Number(family),
  };
  if (login.username !== undefined && login.password === undefined)
    throw wrong("have a password after its user name, as in user:password@host (a password alone is :password@host)");

  const database = (text: string): number => {
    if (!/^\d{1,5}$/.test(text) || Number(text) > databases_max)
      throw wrong(`name its database as a number from 0 to ${databases_max}`);
    return Number(text);
  };
  const name = path.replace(/^\//, "");
  switch (way?.toLowerCase()) {
    case "sentinel": {
      const set = decoded(name, "a name");
      if (set === undefined || set.includes("/"))
        throw wrong("end in the name that the sentinels have for the servers, as in redis+sentinel://host:26379/name");
      const sentinel_login = {
        username: asked.get("sentinel_username") || undefined,
        password: asked.get("sentinel_password") || undefined,
      };
      return {
        kind: "sentinel",
        ...login,
        sentinels: endpoints,
        set,
        database: database(asked.get("database") ?? "0"),
        sentinel_login,
      };
    }
    case "cluster":
      if (name !== "") throw wrong("have nothing after the servers: a cluster has only database 0");
      return { kind: "cluster", ...login, servers: endpoints };
    default: {
      const [server, ...others] = endpoints;
      if (server === undefined || others.length > 0)
        throw wrong("name one server; several are redis+cluster://… or redis+sentinel://…/name");
      return { kind: "server", ...login, server, database: database(name || "0") };
    }
  }
}

function endpoint(text: string, default_port_here: number): Endpoint | undefined {
  const [, host, port] = /^(\[[0-9a-f:.%]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (host === undefined || !URL.canParse(`redis://${host}`)) return undefined;
  const number = port === undefined ? default_port_here : Number(port);
  if (number < 1 || number > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ""), port: number };
}
