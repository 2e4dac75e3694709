import { expect, test } from "vitest";
import { serverLimits } from "./server-limits.ts";

test("connections leave files for PostgreSQL, Redis and the process itself", () => {
  const bounds = (filesMax: number) => serverLimits({ filesMax, connectionsMax: 2_000 }).connections_max;
  expect([64, 200, 1_024, 1_048_576, Infinity].map(bounds)).toEqual([16, 100, 768, 2_000, 2_000]);
});
