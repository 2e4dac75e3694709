import { describe } from "vitest";
import { coreSuite } from "./harness/core-suite.ts";
import { failover } from "./harness/failover.ts";

const behind = {
  synchronous: false,
  lag_ms: 300,
  gives_up: "what the standby had not received yet is lost, and what ran in that time may run again",
};

describe("through a proxy that moves", () => {
  coreSuite(failover(({ moving }) => ({ url: moving.url }), behind));
});

describe("through a URL that names both servers", () => {
  coreSuite(failover(({ both }) => ({ url: both }), behind));
});
