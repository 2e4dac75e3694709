import { expect, test } from "vitest";
import { isUnavailable } from "./errors.ts";

const errorWith = (facts: object) => Object.assign(new Error("x"), facts);

test.each([
  ["the login is refused", { code: "28P01", severity: "FATAL" }],
  ["the database is not there for a while", { code: "3D000", severity: "FATAL" }],
  ["the database takes no connections", { code: "55000", severity: "FATAL" }],
  ["the server ends by a fault of its own", { code: "XX000", severity: "PANIC" }],
  ["there is no socket under the path", { code: "ENOENT", syscall: "connect" }],
  ["the process has too many files open", { code: "EMFILE", syscall: "connect" }],
  ["no port is left", { code: "EADDRNOTAVAIL", syscall: "connect" }],
  ["TLS breaks", { code: "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC" }],
  ["TLS breaks in the middle of a write", { code: "EPROTO", syscall: "write" }],
  ["the interface goes down", { code: "ENETDOWN", syscall: "read" }],
])("that %s says nothing about the data", (_what, facts) => {
  expect(isUnavailable(errorWith(facts))).toBe(true);
});

test.each([
  ["a bad row", { code: "22P02", severity: "ERROR" }],
  ["a constraint", { code: "23505", severity: "ERROR" }],
  ["a missing table", { code: "42P01", severity: "ERROR" }],
  ["a port that is taken", { code: "EADDRINUSE", syscall: "listen" }],
  ["a missing file", { code: "ENOENT", syscall: "open" }],
])("%s is no outage", (_what, facts) => {
  expect(isUnavailable(errorWith(facts))).toBe(false);
});
