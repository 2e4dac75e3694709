import { isIPv6, BlockList, isIP } from "node:net";
import type { ApiContext } from "../context.ts";

/** The network a request came from, for limits: its client's address, for IPv6 the first 64 bits, as one household has all the rest. */
export function networkOf(c: ApiContext): string {
  return network(c.get("client_address"));
}

export function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [before = "", after] = address.replace(/%.*/, "").split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after ? after.split(":") : [];
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array.from({ length: zeros }, () => "0"), ...tail];
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}

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
  const trusted = new BlockList();
  for (const range of ranges) {
    const [, address = "", bits] = /^([^/]+)(?:\/(\d+))?$/.exec(range) ?? [];
    const version = isIP(address);
    if (version === 0) throw new Error(`${JSON.stringify(range)} is neither an address nor a range of them`);
    trusted.addSubnet(address, Number(bits ?? (version === 4 ? 32 : 128)), version === 4 ? "ipv4" : "ipv6");
  }
  // An IPv4 address in IPv6's form is that IPv4 address to it.
  return (address) => isIP(address) !== 0 && trusted.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

/** Some balancers write `203.0.113.7:4711` and `[2001:db8::7]:4711`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}
