import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { addressOldRequest } from "./no-host.ts";

test.each([
  ["1.0", undefined, "10.0.0.7", "10.0.0.7:8000"],
  ["1.0", undefined, "::ffff:10.0.0.7", "10.0.0.7:8000"],
  ["1.0", undefined, "fd00::7", "[fd00::7]:8000"],
  ["1.0", undefined, "fe80::7%eth0", "[fe80::7]:8000"],
  ["1.0", undefined, undefined, undefined],
  ["1.0", "named", "10.0.0.7", "named"],
  ["1.1", undefined, "10.0.0.7", undefined],
])("HTTP/%s with the Host %s that arrived at %s is for %s", (httpVersion, host, localAddress, expected) => {
  const incoming = { httpVersion, headers: { host }, socket: { localAddress, localPort: 8000 } };
  addressOldRequest(incoming as unknown as IncomingMessage);
  expect(incoming.headers.host).toBe(expected);
});
