import { expect, test } from "vitest";
import { allowsHost } from "./hosts.ts";

test.each([
  [{ names: [], addresses: false }, ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"]],
  [{ names: ["api"], addresses: false }, ["localhost", "api", "API"]],
  [{ names: ["api"], addresses: true }, ["api", "10.0.0.7", "[2001:db8::1]"]],
  [undefined, ["anything.example"]],
])("%j lets %j in", (rule, hosts) => {
  for (const host of hosts) expect(allowsHost(rule, host), host).toBe(true);
});

test.each([
  [{ names: [], addresses: false }, ["10.0.0.7", "rebound.example", "127.0.0.1.rebound.example", "localhost.", ""]],
  [{ names: ["api"], addresses: true }, ["rebound.example", "api.rebound.example", "10.0.0.7.rebound.example"]],
])("%j keeps %j out", (rule, hosts) => {
  for (const host of hosts) expect(allowsHost(rule, host), host).toBe(false);
});
