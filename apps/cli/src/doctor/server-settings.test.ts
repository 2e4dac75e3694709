import { testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../../test/run-cli.ts";

test("doctor fails if a setting may lose jobs, and names sizes that are small", async () => {
  const store = await testDatabase();
  onTestFinished(() => store.drop());
  const { sql } = store.database;
  const name = sql(new URL(store.url).pathname.slice(1));
  const settings = async () =>
    (await runCli(["doctor"], { DATABASE_URL: store.url })).stdout
      .split("\n")
      .find((line) => line.includes("settings"));
  await sql`ALTER DATABASE ${name} SET synchronous_commit = off`;
  expect(await settings()).toMatch(/^✗ settings +synchronous_commit: off; set it to on$/);
  await sql`ALTER DATABASE ${name} RESET synchronous_commit`;
  expect(await settings()).toMatch(
    /^✓ settings +fsync is off.*; for thousands of jobs a second, raise: shared_buffers is 128 MB/,
  );
});
