import { isIP, isIPv4 } from "node:net";

/** The names a server answers to. Undefined: any. */
export type HostRule = {
  /** In lower case, as in `queue.example.com`; the machine's own loopback names always count too. */
  readonly names: readonly string[];
  /** Whether an address will do. Unlike a name, which another site can rebind, an address does not let its pages in. */
  readonly addresses: boolean;
};

/** A host without the brackets that URLs put around an IPv6 address. */
export const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, "$1").toLowerCase();

/** Whether a name or address means this machine itself. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/**
 * Whether a request may be addressed to this host (the name or address of a URL, without its port). Otherwise a web
 * page whose name was made to point here could do, from a visitor's browser, whatever that browser may.
 *
 * @example
 * allowsHost({ names: ["api"], addresses: false }, "rebound.example"); // false
 */
export function allowsHost(rule: HostRule | undefined, hostname: string): boolean {
  if (rule === undefined) return true;
  const host = bareHost(hostname);
  return isLoopback(host) || rule.names.includes(host) || (rule.addresses && isIP(host) !== 0);
}
