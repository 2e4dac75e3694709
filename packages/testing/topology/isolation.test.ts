import { connectDatabase } from "@atlasqueue/core";
import { requirePostgres } from "@atlasqueue/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { pgBouncer, testDatabase } from "../src/index.ts";

test("behind a PgBouncer, a database that is serializable by default is refused until its server is told otherwise", async () => {
  const own = await testDatabase();
  const pooler = await pgBouncer(own.url, { pool_size: 3 });
  const start = async () => {
    const database = connectDatabase({
      url: pooler.url,
      connections_max: 3,
      timeout_ms: 10_000,
      prepared_statements: false,
    });
    return requirePostgres(database).finally(() => database.close());
  };
  const { sql } = own.database;
  const say = (level: string) =>
    sql.unsafe(`ALTER ROLE CURRENT_USER IN DATABASE "${own.name}" SET default_transaction_isolation = '${level}'`);
  onTestFinished(async () => {
    await pooler.stop();
    await own.drop();
  });
  await say("serializable");
  await expect(start()).rejects.toThrow("ALTER ROLE … SET default_transaction_isolation = 'read committed'");
  await say("read committed");
  await pooler.restart();
  await start();
});
