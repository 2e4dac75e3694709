// @module-tag nightly
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { runStart, startEnv, succeeds } from "../../test/run-start.ts";

test("an ephemeral system uses no given server and no given port, and leaves nothing behind", async () => {
  const given = { DATABASE_URL: "postgres://127.0.0.1:1/no", REDIS_URL: "redis://127.0.0.1:1", API_PORT: "1" };
  const started = await runStart({ ...startEnv("unused"), ...given }, "--ephemeral");
  await succeeds(started, await started.submit({ type: "demo.echo", payload: { n: 1 } }));
  const line = started.banner.find((said) => said.startsWith("Data:")) ?? "";
  const folder = dirname(line.replace(/^Data: +/, ""));
  expect(existsSync(folder)).toBe(true);
  await started.stop();
  expect(existsSync(folder)).toBe(false);
});
