import { expect, test } from "vitest";
import { readWorkerConfig } from "./config.ts";

const read = (WORKER_TENANTS: string | undefined) =>
  readWorkerConfig({ DATABASE_URL: "postgres://127.0.0.1/atlasqueue", WORKER_TENANTS }).tenants;

test("a worker serves the default tenant, the named ones, or all of them", () => {
  expect(read(undefined)).toEqual(["default"]);
  expect(read("acme, beta,acme")).toEqual(["acme", "beta"]);
  expect(read("*")).toBe("*");
});

test.each(["a b", "*,acme", "acme*,beta"])("WORKER_TENANTS=%s is refused, saying what it takes", (given) => {
  expect(() => read(given)).toThrow("WORKER_TENANTS must be names of tenants, separated by commas, or * for all; got");
});

test("a worker takes jobs of all types, or of those named", () => {
  const types = (WORKER_TYPES: string | undefined) =>
    readWorkerConfig({ DATABASE_URL: "postgres://127.0.0.1/atlasqueue", WORKER_TYPES }).types;
  expect([types(undefined), types("mail.send, report.make")]).toEqual([undefined, ["mail.send", "report.make"]]);
  expect(() => types(",")).toThrow(
    "WORKER_TYPES must be 1 to 100 types of jobs, separated by commas, each a string of",
  );
});
