import { eventually, tcpProxy, testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectDatabase, type Database } from "../database/connect.ts";
import { isUnavailable } from "../database/errors.ts";
import { CellUnavailableError, createCellMap } from "./map.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await testDatabase();
  await store.database.sql`
    INSERT INTO atlasqueue.tenants (tenant, cell, moving_to)
    VALUES ('at-home', NULL, NULL), ('acme', 'b', NULL), ('moves', NULL, 'b'), ('lost', 'z', NULL)`;
});
afterAll(() => store.drop());

const names = ["home", "b"];
/** With its statements counted, and a clock that the test moves. */
function counted(database: Database = store.database) {
  const clock = { ms: 0 };
  const asked: string[] = [];
  const unsafe = ((sql: string, params: string[], ...rest: []) => {
    asked.push(...params);
    return database.sql.unsafe(sql, params, ...rest);
  }) as Database["sql"]["unsafe"];
  const counting = { ...database, sql: { unsafe } as Database["sql"] };
  return { clock, asked, map: createCellMap({ database: counting, names }, { now: () => clock.ms }) };
}

test("a tenant is in the cell that home says, and at home if home says nothing", async () => {
  const { map } = counted();
  expect(await Promise.all(["acme", "at-home", "default"].map(map.cellOf))).toEqual(["b", "home", "home"]);
});

test("a tenant that is moving, and one in a cell that is not known here, are refused", async () => {
  const { map } = counted();
  const refusal = async (tenant: string) => (await map.cellOf(tenant).catch((error: unknown) => error)) as Error;
  expect(await refusal("moves")).toBeInstanceOf(CellUnavailableError);
  expect((await refusal("moves")).message).toBe("Tenant moves is being moved to cell b; try again in a few seconds");
  expect((await refusal("lost")).message).toBe(
    "Tenant lost is in cell z, which this process does not know; it knows home, b",
  );
});

test("a place counts for two seconds from the question, then home is asked again", async () => {
  const { map, clock, asked } = counted();
  await map.cellOf("acme");
  clock.ms = 1_999;
  await map.cellOf("acme");
  expect(asked).toEqual(['{"acme"}']);
  await store.database.sql`UPDATE atlasqueue.tenants SET cell = NULL WHERE tenant = 'acme'`;
  expect(await map.cellOf("acme")).toBe("b");
  clock.ms = 2_000;
  expect(await map.cellOf("acme")).toBe("home");
  expect(asked).toHaveLength(2);
  await store.database.sql`UPDATE atlasqueue.tenants SET cell = 'b' WHERE tenant = 'acme'`;
});

test("calls that come while home is asked share the next question", async () => {
  const { map, asked } = counted();
  const tenants = Array.from({ length: 700 }, (_, at) => `t${at}`);
  expect(new Set(await Promise.all([...tenants, ...tenants].map(map.cellOf)))).toEqual(new Set(["home"]));
  expect(asked.length).toBeLessThanOrEqual(3);
});

test("when home is down, a place that is too old is no answer, and home is found again", async () => {
  const proxy = await tcpProxy(store.url);
  const database = connectDatabase({ url: proxy.url, connectionsMax: 1, timeoutMs: 1_000 });
  const { map, clock } = counted(database);
  await map.cellOf("acme");
  proxy.refuse();
  clock.ms = 1_999;
  expect(await map.cellOf("acme")).toBe("b");
  clock.ms = 2_000;
  expect(isUnavailable(await map.cellOf("acme").catch((error: unknown) => error))).toBe(true);
  proxy.heal();
  await eventually(async () => expect(await map.cellOf("acme")).toBe("b"));
  await Promise.all([database.close(), proxy.close()]);
});
