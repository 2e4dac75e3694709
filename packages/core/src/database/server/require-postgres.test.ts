import { submission, testDatabase, submit } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase, openProxy } from "../../../test/opened.ts";
import { memorySignal } from "../../signal/memory/signal.ts";
import { schemaState } from "../schema-state.ts";
import { requirePostgres } from "./require-postgres.ts";

async function databaseOf(level: string, name = "default_transaction_isolation") {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  await own.database.sql.unsafe(`ALTER DATABASE "${own.name}" SET ${name} = '${level}'`);
  const proxy = await openProxy(own.url);
  return { database: openDatabase({ url: proxy.url, connectionsMax: 3, timeoutMs: 10_000 }), proxy };
}

test.each(["serializable", "repeatable read"])(
  "where the default is %s, statements sent alone are read committed all the same",
  async (level) => {
    const { database } = await databaseOf(level);
    const { sql, control, spare } = database;
    const levels = async () => {
      const asked = [sql, sql, sql, control, spare].map((each) => each`SHOW transaction_isolation`);
      return new Set((await Promise.all(asked)).map(([row]) => row?.["transaction_isolation"] as string));
    };
    expect(await levels()).toEqual(new Set([level]));
    await requirePostgres(database);
    expect(await levels()).toEqual(new Set(["read committed"]));
  },
);

test.each([
  ["array_nulls", "off", "on"],
  ["extra_float_digits", "-5", "1"],
])("where %s is %s by default, a program's connections choose %s", async (name, other, ours) => {
  const { database } = await databaseOf(other, name);
  const { sql, control, spare } = database;
  expect(await sql.unsafe(`SHOW ${name}`)).toEqual([{ [name]: other }]);
  expect((await schemaState(database)).kind).toBe("current");
  await requirePostgres(database);
  for (const each of [sql, sql, control, spare]) expect(await each.unsafe(`SHOW ${name}`)).toEqual([{ [name]: ours }]);
  const deps = { database, signal: memorySignal(), observe: () => {} };
  const [outcome] = await submit(deps, [submission()], { idempotency_ttl_seconds: 60 });
  expect(outcome?.kind).toBe("created");
});

test("where nothing lets a connection choose, the start is refused, saying what to tell the server", async () => {
  const { database, proxy } = await databaseOf("serializable");
  // As long as the real one, as the answer's length comes before it.
  proxy.alterAnswers((text) => text.replaceAll("read committed", "other than it "));
  await expect(requirePostgres(database)).rejects.toThrow(
    /^DATABASE_URL: .*ALTER ROLE … SET default_transaction_isolation = 'read committed'$/,
  );
});
