import { expect, test } from "vitest";
import { clientAddress, network, trustedProxies } from "./address.ts";

test.each([
  ["10.1.2.3", "10.1.2.3"],
  ["::ffff:10.1.2.3", "10.1.2.3"],
  ["2001:db8:0:7::1", "2001:db8:0:7::/64"],
  ["2001:0db8:0:7:1:2:3:4", "2001:db8:0:7::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["unknown", "unknown"],
])("%s belongs to the network %s", (address, expected) => {
  expect(network(address)).toBe(expected);
});

const trusts = trustedProxies(["10.0.0.0/8", "192.0.2.1", "2001:db8:1::/48"]);

test.each([
  ["203.0.113.9", "1.1.1.1", "203.0.113.9", "a client without a proxy"],
  ["10.0.0.2", "203.0.113.7", "203.0.113.7", "a client behind a proxy"],
  ["::ffff:10.0.0.2", "203.0.113.7", "203.0.113.7", "a proxy in IPv6's form"],
  ["10.0.0.2", "1.1.1.1, 203.0.113.7", "203.0.113.7", "a client that made up the rest"],
  ["10.0.0.2", "203.0.113.7, 192.0.2.1,10.9.9.9", "203.0.113.7", "a client behind three proxies"],
  ["10.0.0.2", "10.1.1.1, 203.0.113.7, 10.9.9.9", "203.0.113.7", "a client that made up a proxy"],
  ["10.0.0.2", "10.0.0.3", "10.0.0.3", "a proxy that calls itself"],
  ["10.0.0.2", undefined, "10.0.0.2", "a proxy that names none"],
  ["10.0.0.2", "203.0.113.7, unknown", "10.0.0.2", "a proxy that hides its caller"],
  ["10.0.0.2", "203.0.113.7:4711", "203.0.113.7", "a proxy that names the port"],
  ["2001:db8:1::1", "[2001:db8:2::7]:4711", "2001:db8:2::7", "the same with IPv6"],
])("from %s with X-Forwarded-For %s it is %s: %s", (socket, forwarded, client, _case) => {
  expect(clientAddress(socket, forwarded, trusts)).toBe(client);
});

test.each(["proxy.example.com", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "", "10.0.0"])(
  "%j is no address and no range",
  (range) => {
    expect(() => trustedProxies([range])).toThrow();
  },
);
