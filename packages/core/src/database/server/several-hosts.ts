/**
 * Settings of the driver for a URL that may name several hosts: of them, the one that takes writes. A single host is used
 * as it is, so that at least reads are answered.
 *
 * @example
 * const sql = postgres(url, { max: 2, ...ofSeveralHosts(url) });
 */
export function ofSeveralHosts(url: string): { target_session_attrs?: "read-write" } {
  // A password may have a comma in it.
  const [, hosts = ""] = /^[^/]*\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(url) ?? [];
  const several = hosts.includes(",") && !url.includes("target_session_attrs=");
  return several ? { target_session_attrs: "read-write" } : {};
}
