import { testDatabase } from "@atlasqueue/harness";
import { connectDatabase } from "@atlasqueue/core";
import { expect, onTestFinished, test } from "vitest";
import { submission, testApp } from "../test/test-app.ts";

test("a database that is read-only by default is said to be read-only, not to be silent", async () => {
  const own = await testDatabase();
  await own.database.sql.unsafe(`ALTER DATABASE "${own.name}" SET default_transaction_read_only = on`);
  const database = connectDatabase({ url: own.url, connectionsMax: 3, timeoutMs: 5_000 });
  const api = await testApp({ database });
  onTestFinished(async () => {
    await api.stop();
    await database.close();
    await own.drop();
  });
  const response = await api.app.request("http://localhost/v1/jobs", submission("key", { type: "a" }));
  expect([response.status, await response.json()]).toMatchObject([
    503,
    {
      type: "/problems/unavailable",
      title: "The database is unavailable; try again with the same Idempotency-Key",
      detail: "The database is read-only: it takes no writes",
    },
  ]);
});
