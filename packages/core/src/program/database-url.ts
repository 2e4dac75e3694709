export const databaseUrlAccepts = "a URL such as postgres://user:password@host:5432/database";
const accepts = `be ${databaseUrlAccepts}; got something else (not shown)`;
const whichHost = ["read-write", "read-only", "primary", "standby", "prefer-standby"];

/**
 * Why a text cannot be used as `DATABASE_URL`, to complete "DATABASE_URL must …"; undefined if it can. Nothing of the text
 * is in it, which has a password.
 *
 * @example
 * databaseUrlFault("postgres://queue:s3cret@db1,db2/queue"); // undefined
 */
export function databaseUrlFault(text: string): string | undefined {
  const [, before = "", hosts, after = ""] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s.exec(text) ?? [];
  if (hosts === undefined) return accepts;
  if (hosts.includes("["))
    return "name its host rather than an IPv6 address, which the driver does not read; got one (not shown)";
  if (!isDecodable(before)) return "have %25 for each % in its user and password; got one alone (not shown)";
  if (hosts.includes("%")) return "name its hosts without any %, and none by its socket; got one (not shown)";
  // `URL` allows only one host, so each is tried in its place.
  const parsed = hosts.split(",").map((host) => (host === "" ? null : URL.parse(`${before}${host}${after}`)));
  if (parsed.includes(null)) return accepts;
  // To one without, the driver gives the port of the first.
  const ports = parsed.filter((url) => url?.port !== "").length;
  if (ports > 0 && ports < parsed.length) return "name a port for each of its hosts or for none; got some (not shown)";
  const attrs = parsed[0]?.searchParams.get("target_session_attrs") ?? undefined;
  if (attrs !== undefined && !whichHost.includes(attrs))
    return `have a target_session_attrs of ${whichHost.join(", ")} or none; got ${JSON.stringify(attrs.slice(0, 40))}`;
  return undefined;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
