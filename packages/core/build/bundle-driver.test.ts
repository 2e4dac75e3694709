import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { postgresUrl } from "@atlasqueue/harness";
import type postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { bundleDriver } from "./bundle-driver.ts";

test("a built package contains the patched driver, and it works there", async () => {
  const dist = mkdtempSync(join(tmpdir(), "atlasqueue-dist-"));
  onTestFinished(() => rmSync(dist, { recursive: true, force: true }));
  mkdirSync(join(dist, "database"));
  bundleDriver(dist, "database/driver.js");
  const { default: connect } = (await import(pathToFileURL(join(dist, "database/driver.js")).href)) as {
    default: typeof postgres;
  };
  expect(readFileSync(join(dist, "driver/src/connection.js"), "utf8")).toContain("notBefore");
  const sql = connect(postgresUrl(), { max: 1, onnotice: () => {} });
  expect([...(await sql`SELECT 1 AS one`)]).toEqual([{ one: 1 }]);
  await sql.end();
});
