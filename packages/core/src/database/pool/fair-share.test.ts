import { eventually, postgresUrl } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { failureOf } from "../../../test/failure-of.ts";
import { openDatabase } from "../../../test/opened.ts";
import type { Database } from "../connect.ts";
import { CallerGoneError, outcomeUnknown } from "../errors.ts";
import { withPriority, forTenant } from "./fair-share.ts";
import { plain } from "../plain.ts";
import { executeOn } from "../statement.ts";
import { inTransaction } from "../transaction.ts";
import { sql } from "../drizzle.ts";

const open = (connections_max: number, timeout_ms = 20_000): Database =>
  openDatabase({ url: postgresUrl(), connectionsMax: connections_max, timeoutMs: timeout_ms });
const one = { text: "SELECT 1 AS one", params: [] };
const endless = { text: "SELECT pg_sleep(600)", params: [] };
const send = (database: Database, tenant: string, statement = one) =>
  executeOn(forTenant(database, { tenant }))(statement);

const ways: Record<string, (database: Database) => Promise<unknown>> = {
  "a statement": (database) => executeOn(database)(one),
  "a statement of the query builder": (database) => plain(database, (db) => db.execute(sql`SELECT 1`)),
  "a transaction": (database) => inTransaction(database, (execute) => execute(one)),
};

test("a tenant whose statements never end leaves connections to the others, and what is sent for nobody", async () => {
  const database = open(4, 30_000);
  const stuck = Array.from({ length: 20 }, () => send(database, "greedy", endless).catch(() => {}));
  for (let round = 0; round < 3; round += 1) {
    expect(await send(database, "modest")).toEqual([{ one: 1 }]);
    expect(await executeOn(database)(one)).toEqual([{ one: 1 }]);
  }
  expect(database.connections()).toMatchObject({ busy: 2, max: 4, waiting: 18 });
  // A process that ends waits for none of them.
  await database.close();
  await Promise.all(stuck);
  expect(database.connections().waiting).toBe(0);
});

test.each(Object.entries(ways))("tenants take turns with %s, each in its own order", async (_what, sent) => {
  const database = open(1);
  const order: string[] = [];
  const all = ["a1", "a2", "a3", "b1", "b2", "c1"].map((name) =>
    sent(forTenant(database, { tenant: name.slice(0, 1) })).then(() => order.push(name)),
  );
  await Promise.all(all);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
});

test("operations on a lease do not wait for their tenant's statements that never end, nor does what is sent for nobody", async () => {
  const database = open(4, 30_000);
  const stuck = ["a", "b"].flatMap((tenant) =>
    Array.from({ length: 20 }, () => send(database, tenant, endless).catch(() => {})),
  );
  for (const tenant of ["a", "b", "c"])
    expect(await executeOn(withPriority(forTenant(database, { tenant })))(one)).toEqual([{ one: 1 }]);
  expect(await executeOn(database)(one)).toEqual([{ one: 1 }]);
  await database.close();
  await Promise.all(stuck);
});

test("what waits for its turn is late at its deadline, and was not sent", async () => {
  const database = open(2, 300);
  expect(database.turns.rest.enter("greedy")).toBe(true);
  const late = await failureOf(send(database, "greedy"));
  expect(late).toMatchObject({ name: "DatabaseTimeoutError", is_busy: false });
  expect(outcomeUnknown(late)).toBe(false);
  database.turns.rest.leave("greedy");
  expect(await send(database, "greedy")).toEqual([{ one: 1 }]);
  expect(database.connections().waiting).toBe(0);
});

test("while others are answered it waits three deadlines, and then says that it had no room", async () => {
  const database = open(2, 400);
  let over = false;
  const answering = async () => {
    while (!over) await executeOn(database)(one);
  };
  expect(database.turns.rest.enter("greedy")).toBe(true);
  const others = answering();
  const began = performance.now();
  const late = await failureOf(send(database, "greedy"));
  expect(late).toMatchObject({ name: "DatabaseTimeoutError", is_busy: true });
  expect(outcomeUnknown(late)).toBe(false);
  expect(performance.now() - began).toBeGreaterThan(3 * 400 - 10);
  over = true;
  await others;
});

test("a caller who hangs up leaves the line, and one whose statement was sent is not minded", async () => {
  const database = open(2);
  const gone = new AbortController();
  const context = { tenant: "greedy", gone: () => gone.signal };
  const sent = executeOn(forTenant(database, context))({ text: "SELECT pg_sleep(0.5), 1 AS one", params: [] });
  const waits = failureOf(executeOn(forTenant(database, context))(one));
  await eventually(() => expect(database.connections().waiting).toBe(1));
  gone.abort();
  const error = await waits;
  expect(error).toBeInstanceOf(CallerGoneError);
  expect(outcomeUnknown(error)).toBe(false);
  expect(await sent).toMatchObject([{ one: 1 }]);
  expect(database.turns.rest.enter("greedy")).toBe(true);
  expect(await failureOf(executeOn(forTenant(database, context))(one))).toBeInstanceOf(CallerGoneError);
  database.turns.rest.leave("greedy");
  expect(await send(database, "greedy")).toEqual([{ one: 1 }]);
});
