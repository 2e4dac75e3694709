import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Whether an address is a proxy's whose X-Forwarded-For counts. */
export type Trusts = (address: string) => boolean;

/**
 * The address that a request came from: the socket's, unless that is a trusted proxy. Each proxy appends the address that
 * it was called from to X-Forwarded-For. So the client is the rightmost address that is no trusted proxy. The client may have
 * made up the addresses before it.
 *
 * @example
 * clientAddress("10.0.0.2", "1.1.1.1, 203.0.113.7", trustedProxies(["10.0.0.0/8"])); // 203.0.113.7
 */
export function clientAddress(socket: string, forwarded: string | undefined, trusts: Trusts): string {
  let client = socket;
  const hops = forwarded === undefined ? [] : forwarded.split(",");
  while (trusts(client)) {
    const hop = withoutPort(hops.pop()?.trim() ?? "");
    // No more hops, or one that no proxy writes: it is not known where the last trusted one was called from.
    if (isIP(hop) === 0) return client;
    client = hop;
  }
  return client;
}

/** Addresses and ranges of them, as `10.0.0.0/8`; throws for anything else. */
export function trustedProxies(ranges: readonly string[]): Trusts {
  const parsed = ranges.map((range) => {
    const [address = "", bits] = range.split("/");
    // The package also takes `10.1`, as 10.0.0.1.
    if (isIP(address) === 0) throw new Error(`${JSON.stringify(range)} is neither an address nor a range of them`);
    return ipaddr.parseCIDR(bits === undefined ? `${address}/${isIP(address) === 4 ? 32 : 128}` : range);
  });
  return (address) => {
    if (isIP(address) === 0) return false;
    // An IPv4 address in IPv6's form is that IPv4 address.
    const asked = ipaddr.process(address);
    return parsed.some((range) => range[0].kind() === asked.kind() && asked.match(range));
  };
}

/** Some balancers write `203.0.113.7:4711` and `[2001:db8::7]:4711`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}
