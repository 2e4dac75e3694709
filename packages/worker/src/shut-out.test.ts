import { connectDatabase } from "@atlasqueue/core";
import { eventually, postgresUrl } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { z } from "zod";
import { gate, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, named, url, work } = workerHarness();

test("while the server lets nobody into the database, what handlers have done is kept, and no attempt is spent", async () => {
  const [begun, done] = [gate(), gate()];
  const any = z.looseObject({});
  const handler = defineHandler("noop", any, async () => {
    begun.open();
    await done.opened;
    return "done";
  });
  const failing = defineHandler("failing", any, async () => {
    await done.opened;
    throw new Error("no");
  });
  work([handler, failing]);
  const [id, dead] = await add({}, { type: "failing", max_attempts: 1 });
  await begun.opened;
  await becomes(dead, { status: "running" });
  const admin = connectDatabase({ url: postgresUrl(), connectionsMax: 1, timeoutMs: 15_000 });
  const name = new URL(url()).pathname.slice(1);
  try {
    // As during a restore, or after a login was taken away.
    await admin.sql.unsafe(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
    await admin.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`;
    done.open();
    // Not only that the connection broke.
    await eventually(() =>
      expect(named("database_unavailable")).toContainEqual(
        expect.objectContaining({ during: "settling", error: expect.stringContaining("not currently accepting") }),
      ),
    );
  } finally {
    await admin.sql.unsafe(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`);
    await admin.close();
  }
  await becomes(id, { status: "succeeded", attempts: 1, result: "done" });
  await becomes(dead, { status: "dead", attempts: 1, dead_reason: "attempts_exhausted" });
});
