import { isIP, isIPv4 } from "node:net";

/** Under which names a server answers. Undefined: any. */
export type HostRule = {
  /** In lower case, as `queue.example.com`; beside them the machine's own loopback names always count. */
  readonly names: readonly string[];
  /** Whether an address will do. No page of another site can be reached by one, unlike by a name that it rebinds. */
  readonly addresses: boolean;
};

/** Whether a name or address means this machine itself. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/**
 * Whether a request may be addressed to this host (the name or address of a URL, without its port). A web page whose
 * name was made to point here could otherwise read and do from a visitor's browser what that browser may.
 *
 * @example
 * allowsHost({ names: ["api"], addresses: false }, "rebound.example"); // false
 */
export function allowsHost(rule: HostRule | undefined, hostname: string): boolean {
  if (rule === undefined) return true;
  const host = hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return isLoopback(host) || rule.names.includes(host) || (rule.addresses && isIP(host) !== 0);
}
