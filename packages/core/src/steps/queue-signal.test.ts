import { forFile, testDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { createQueue } from "../queue.ts";

const own = forFile(testDatabase);
const queue = forFile(async () => createQueue({ databaseUrl: own.url }));
const other = forFile(async () => createQueue({ databaseUrl: own.url, tenant: "acme" }));

test("a queue in your own code sends signals to its tenant's jobs, and the first of a name counts", async () => {
  const { id } = await queue.submit({ type: "a" });
  expect(await queue.signal(id, "approved", { by: "ada" })).toBe("sent");
  expect(await queue.signal(id, "approved")).toBe("sent_before");
  expect(await other.signal(id, "approved")).toBe("unknown");
  expect(await own.database.sql`SELECT value AS payload FROM atlasqueue.job_state`).toEqual([
    { payload: { by: "ada" } },
  ]);
});

test("a name or a payload that cannot be stored is refused before anything is sent", async () => {
  const { id } = await queue.submit({ type: "a" });
  await expect(queue.signal(id, "")).rejects.toThrow(/name of a signal must be/);
  await expect(queue.signal(id, "a", new Map() as never)).rejects.toThrow(/must be JSON/);
});
