import { describe } from "vitest";
import { coreSuite } from "./harness/core-suite.ts";
import { failover } from "./harness/failover.ts";
import { startHaproxyOfPair } from "./harness/haproxy.ts";
import { testQuorum } from "./harness/quorum.ts";

describe("through a proxy that moves", () => {
  coreSuite(failover(({ moving }) => ({ url: moving.url }), { synchronous: true }));
});

describe("through a URL that names both servers", () => {
  coreSuite(failover(({ both }) => ({ url: both }), { synchronous: true }));
});

describe("through HAProxy with the file of the page", () => {
  coreSuite(failover(startHaproxyOfPair, { synchronous: true }));
});

describe("with two standbys of which any one has to have it", testQuorum);
