import ipaddr from "ipaddr.js";
import { DoNotRetryError } from "@atlasqueue/worker";

/**
 * The clouds' own services, under addresses that belong to no one but look public: what answers there reveals the
 * machine's secrets, or takes orders from it. The others (169.254.169.254, 100.100.100.200, fd00:ec2::254, 192.0.0.192,
 * …) are link-local, shared, unique local or reserved, and refused as such.
 */
const metadataServices = [
  "168.63.129.16/32", // Azure's WireServer
  "192.80.8.124/32", // Equinix Metal
  "161.26.0.0/16", // IBM Cloud's services
  "166.8.0.0/14", // IBM Cloud's private endpoints
  "64:ff9b:1::/48", // NAT64 within a network (RFC 8215): any IPv4 address may be behind it
].map((range) => ipaddr.parseCIDR(range));

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
  const of_cloud = metadataServices.some(([net, bits]) => net.kind() === parsed.kind() && parsed.match(net, bits));
  return parsed.range() === "unicast" && !was_ipv4 && !of_cloud;
}

/** Throws for a host that is an address inside the network; a name is checked when it is resolved. */
export function refuseAddressLiteral(hostname: string): void {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (ipaddr.isValid(host) && !isPublicAddress(host)) throw refusal(host);
}

function refusal(host: string): Error {
  return new DoNotRetryError(`${host} is inside the network; WEBHOOK_ALLOW_PRIVATE=true allows it`);
}
