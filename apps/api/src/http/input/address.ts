import { isIPv6 } from "node:net";
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
