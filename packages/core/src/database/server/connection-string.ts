import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { createSecureContext, getCACertificates } from "node:tls";
import { shownUrl } from "../../settings/setting-error.ts";

/** What it may look like, to complete "must be …". */
export const databaseUrlAccepts = "a URL such as postgres://user:password@host:5432/database";

/** A connection string that cannot be used. Shows no secret. */
export class DatabaseUrlError extends TypeError {
  override readonly name = "DatabaseUrlError";
  readonly fault: string;
  constructor(fault: string) {
    super(`databaseUrl must ${fault}`);
    this.fault = fault;
  }
}

const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
/** `ssl=true` is libpq's own, for JDBC; the rest is node-postgres'. */
const modeAliases: Record<string, string> = { true: "require", false: "disable", "no-verify": "require" };
const whichServer = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"];

/**
 * Reads a PostgreSQL connection string with the meaning that libpq gives it, and the files it names. Several hosts
 * without `target_session_attrs` mean the one that takes writes. `driver` is for the driver, `startup` is sent as a
 * connection starts, and `ignored` has no meaning here. Throws `DatabaseUrlError`.
 *
 * @example
 * parseDatabaseUrl("postgres://queue:s3cret@db1,db2/queue?sslmode=verify-full").driver.host; // ["db1", "db2"]
 */
export function parseDatabaseUrl(url: unknown, applicationName = "atlasqueue") {
  const text = typeof url === "string" ? url.trim() : "";
  const got = text === "" ? (url === undefined ? "nothing" : JSON.stringify(url)) : shownUrl(text);
  const wrong = (accepts: string) => new DatabaseUrlError(`${accepts}; got ${got}`);
  const [, userinfo, authority, path = "", query = ""] =
    /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(text) ?? [];
  const hasLogin = /^postgres(ql)?:\/\/.*@/is.test(text);
  if (authority === undefined || (userinfo === undefined && path.includes("@")))
    throw wrong(hasLogin ? "have /, ?, # and % in its password percent-encoded" : `be ${databaseUrlAccepts}`);
  const decoded = (part: string | undefined): string | undefined => {
    try {
      return part === undefined || part === "" ? undefined : decodeURIComponent(part);
    } catch {
      throw wrong("have %25 for each % alone");
    }
  };
  // A plus is a plus, as in libpq.
  const asked = new Map(new URLSearchParams(query.replaceAll("+", "%2B")));
  const take: Take = (name) => {
    const value = asked.get(name);
    asked.delete(name);
    return value || undefined;
  };

  const servers =
    authority === "" ? [] : authority.split(",").map((one) => /^(\[.*\]|[^:]*)(?::(.*))?$/.exec(one) ?? []);
  const host = take("host")?.split(",") ?? servers.map(([, name]) => decoded(name)?.replace(/^\[(.*)\]$/, "$1") ?? "");
  const ports = take("port")?.split(",") ?? servers.map(([, , port]) => port);
  const port = host.map((_, at) => Number((ports.length === 1 ? ports[0] : ports[at]) || 5_432));
  if (host.length === 0) throw wrong("name its host, or the folder of its socket as in postgres:///database?host=/run");
  if (!host.every((name) => name.startsWith("/") || isIPv6(name) || /^[^\s/:[\]]+$/.test(name)))
    throw wrong("name each host as host, host:port or [IPv6]:port, separated by commas");
  if (!port.every((number) => Number.isInteger(number) && number > 0 && number < 65_536))
    throw wrong("have ports from 1 to 65535");

  const attrs = take("target_session_attrs") ?? (host.length > 1 ? "read-write" : "any");
  if (!whichServer.includes(attrs)) throw wrong(`have a target_session_attrs of ${whichServer.join(", ")}`);
  const [user, ...rest] = (userinfo ?? "").split(":");
  return {
    driver: {
      host,
      port,
      user: take("user") ?? decoded(user),
      pass: take("password") ?? decoded(rest.join(":")),
      database: take("dbname") ?? decoded(path),
      ssl: tlsOf(
        take,
        wrong,
        host.every((name) => name.startsWith("/")),
      ),
      sslnegotiation: take("sslnegotiation"),
      target_session_attrs: attrs === "any" ? undefined : attrs,
    },
    connect_timeout_seconds: Math.max(0, Number(take("connect_timeout"))) || undefined,
    startup: { application_name: take("application_name") ?? applicationName, options: take("options") },
    ignored: [...asked.keys()],
  };
}

type Take = (name: string) => string | undefined;

/**
 * `require` checks nothing, but with `sslrootcert` it is `verify-ca`. Sockets have no TLS. `optional` is our patch's: no
 * TLS where the server offers none.
 */
function tlsOf(take: Take, wrong: (accepts: string) => DatabaseUrlError, sockets: boolean) {
  const [ssl, sslmode, root] = [take("ssl"), take("sslmode"), take("sslrootcert")];
  const named = sslmode ?? ssl ?? (root === "system" ? "verify-full" : "prefer");
  const mode = modeAliases[named] ?? named;
  if (!modes.includes(mode)) throw wrong(`have a sslmode of ${modes.join(", ")}`);
  if (root === "system" && mode !== "verify-full") throw wrong("have sslmode=verify-full with sslrootcert=system");
  const [cert, key, crl, passphrase] = [take("sslcert"), take("sslkey"), take("sslcrl"), take("sslpassword")];
  if (mode === "disable" || sockets) return false as const;
  const read = (file: string | undefined) => file && readFileSync(file, "utf8");
  try {
    const ca = root === "system" ? getCACertificates("system") : read(root);
    const own = { ca, cert: read(cert), key: read(key), crl: read(crl), passphrase };
    createSecureContext(own);
    return {
      ...own,
      optional: mode === "allow" || mode === "prefer",
      rejectUnauthorized: mode.startsWith("verify") || (mode === "require" && root !== undefined),
      ...(mode !== "verify-full" && { checkServerIdentity: () => undefined }),
    };
  } catch (error) {
    throw wrong(`name usable PEM files in sslrootcert, sslcert, sslkey and sslcrl (${(error as Error).message})`);
  }
}
