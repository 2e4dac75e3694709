import { describe } from "vitest";
import { coreSuite } from "./harness/core-suite.ts";
import { failover } from "./harness/failover.ts";

describe("through a proxy that moves", () => {
  coreSuite(failover(({ moving }) => moving.url, { synchronous: true }));
});

describe("through a URL that names both servers", () => {
  coreSuite(failover(({ both }) => both, { synchronous: true }));
});
