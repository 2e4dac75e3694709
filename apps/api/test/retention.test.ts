import { connectDatabase, createLogger, memorySignal } from "@atlasqueue/core";
import { firstIdAt } from "../../../packages/core/src/maintenance/retention.ts";
import { eventually, recordEvents, submission, testDatabase, submit } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { readApiConfig } from "../src/config.ts";
import { startApi } from "../src/start-api.ts";

test("an API removes what has been kept long enough, as its workers may all be remote ones", async () => {
  const own = await testDatabase();
  const database = connectDatabase({ url: own.url, connectionsMax: 2, timeoutMs: 10_000 });
  const signal = memorySignal();
  const deps = { database, signal, observe: recordEvents().observe };
  for (const type of ["old", "young"]) await submit(deps, [submission({ type })], { idempotency_ttl_seconds: 1 });
  const two_hours_ago = new Date(Date.now() - 7_200_000);
  await database.sql`
    UPDATE atlasqueue.jobs SET id = ${firstIdAt(two_hours_ago)}, status = 'succeeded', ready_at = NULL, kept_until = NULL,
                    finished_at = ${two_hours_ago} WHERE type = 'old'`;
  await database.sql`DELETE FROM atlasqueue.idempotency_keys`;
  const config = readApiConfig({ DATABASE_URL: own.url, API_PORT: "0", RETENTION_SUCCEEDED_HOURS: "1" });
  const api = await startApi(config, { signal, logger: createLogger("silent", "test") });
  onTestFinished(async () => {
    await api.stop();
    await database.close();
    await own.drop();
  });
  await eventually(async () =>
    expect(await database.sql`SELECT type FROM atlasqueue.jobs`).toEqual([{ type: "young" }]),
  );
});
