import dns from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { DoNotRetryError } from "@atlasqueue/worker";

/** Whether an address belongs to the public Internet: not private, loopback, link-local, reserved, or one mapped to those. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  // ::/96 once stood for IPv4 addresses, and some systems still connect to them.
  const was_ipv4 =
    parsed.kind() === "ipv6" &&
    parsed
      .toByteArray()
      .slice(0, 12)
      .every((byte) => byte === 0);
  return parsed.range() === "unicast" && !was_ipv4;
}

/** Throws for a host that is an address inside the network; a name is judged when it is resolved. */
export function refuseAddressLiteral(hostname: string): void {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (ipaddr.isValid(host) && !isPublicAddress(host)) throw refusal(host);
}

/** `dns.lookup` for a socket: the connection goes to the very addresses that were judged, so they cannot change between. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    const inside = addresses.find(({ address }) => !isPublicAddress(address));
    if (inside) return callback(refusal(hostname), []);
    if (options.all) return callback(null, addresses);
    const first = addresses[0];
    return callback(null, first?.address ?? "", first?.family ?? 4);
  });
};

function refusal(host: string): Error {
  return new DoNotRetryError(`${host} is inside the network; WEBHOOK_ALLOW_PRIVATE=true allows it`);
}
