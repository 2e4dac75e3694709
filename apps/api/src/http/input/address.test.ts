import { expect, test } from "vitest";
import { network } from "./address.ts";

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
