import { createDatabase, postgresUrl, tcpProxy, type CreatedDatabase, type TcpProxy } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bounded } from "./bounded.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { isUnavailable, outcomeUnknown } from "./errors.ts";
import { executeOn } from "./statement.ts";
import { inTransaction } from "./transaction.ts";

// A pool behind a proxy that cuts its connections all over every message, of the server's and of ours: no
// answer may be wrong, no slot of the pool may be dead afterwards, and no error may reach the process.

let created: CreatedDatabase;
let watcher: Database;
let next = 0;
beforeAll(async () => {
  created = await createDatabase(postgresUrl());
  watcher = connectDatabase({ url: created.url, connections_max: 4, timeout_ms: 20_000 });
  await watcher.sql`CREATE TABLE written (number int PRIMARY KEY)`;
});
afterAll(async () => {
  await watcher.close();
  await created.drop();
});

const mark = () => (next += 1);
const slots = 2;
type Work = (database: Database) => Promise<unknown>;

const text = "SELECT n, $1::int * n AS it, repeat('x', n) AS fill FROM generate_series(1, 3) AS n";
const rowsOf = (number: number) => [1, 2, 3].map((n) => ({ n, it: number * n, fill: "x".repeat(n) }));

/** Several rows, so that a cut can leave some of them behind. */
async function read(database: Database): Promise<void> {
  const number = mark();
  expect([...(await executeOn(database)({ text, params: [number] }))]).toEqual(rowsOf(number));
}

/** Without parameters the driver sends all of it at once. */
async function readPlain(database: Database): Promise<void> {
  const rows = await bounded(database, database.sql<{ n: number }[]>`SELECT n FROM generate_series(1, 3) AS n`);
  expect([...rows]).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
}

const insert = "INSERT INTO written VALUES ($1) RETURNING number";

/** What is said of a write must be so: of one that was answered, and of one that certainly failed. */
async function truthOf(number: number, work: Promise<unknown>): Promise<void> {
  const isWritten = async () => (await watcher.sql`SELECT 1 FROM written WHERE number = ${number}`).length > 0;
  try {
    await work;
  } catch (error) {
    if (!outcomeUnknown(error)) expect(await isWritten()).toBe(false);
    throw error;
  }
  expect(await isWritten()).toBe(true);
}

function write(database: Database): Promise<void> {
  const number = mark();
  return truthOf(number, executeOn(database)({ text: insert, params: [number] }));
}

function transact(database: Database): Promise<void> {
  const number = mark();
  const work = inTransaction(database, async (execute) => {
    expect([...(await execute({ text, params: [number] }))]).toEqual(rowsOf(number));
    expect([...(await execute({ text: insert, params: [number] }))]).toEqual([{ number }]);
  });
  return truthOf(number, work);
}

/** Its work doesn't care that a statement failed and sends the next ones, two at once. */
function transactOn(database: Database): Promise<void> {
  const number = mark();
  const work = inTransaction(database, async (execute) => {
    await execute({ text, params: [number] }).catch(() => {});
    await Promise.allSettled([execute({ text, params: [number] }), execute({ text: insert, params: [number] })]);
  });
  return truthOf(number, work);
}

/** All of the pool at once: a slot that is dead would keep its query. */
const useAll: Work = (database) => Promise.all(Array.from({ length: slots * 2 }, () => read(database)));

type Way = "cutAnswersAfter" | "cutQuestionsAfter";
type Exchange = { prepared_statements?: boolean; before?: Work; fresh?: boolean };
/** Pools at once, each with every so many-th byte: they wait more than they work. */
const lanes = 8;

/**
 * Of what the server says each byte: our side reads what there is of a message. Of what we say every third: the server acts
 * on whole messages, none is shorter than five bytes, and our side never learns how much of one has passed.
 */
const strides: Record<Way, number> = { cutAnswersAfter: 1, cutQuestionsAfter: 3 };

/** Cut at byte 0, 1, 2 … of what is said from here on, until the work ends before the cut. Gives how many those were. */
async function cutEverywhere(way: Way, work: Work, options: Exchange = {}): Promise<number> {
  let last = Infinity;
  const cutAt = async (proxy: TcpProxy, database: Database, bytes: number): Promise<void> => {
    await options.before?.(database);
    const accepted = proxy.accepted();
    proxy[way](bytes);
    const failed = await work(database).then(
      () => false,
      (error: unknown) => {
        if (!isUnavailable(error)) throw error;
        return true;
      },
    );
    proxy[way](Infinity);
    await useAll(database);
    const dialled = proxy.accepted() - accepted;
    if (!failed && dialled === (options.fresh ? 1 : 0)) last = Math.min(last, bytes);
  };
  const run = async (lane: number): Promise<void> => {
    const proxy = await tcpProxy(created.url);
    const { prepared_statements = true } = options;
    const connections_max = options.fresh ? 1 : slots;
    // What a dead slot swallows shows by this deadline.
    const open = () => connectDatabase({ url: proxy.url, connections_max, timeout_ms: 5_000, prepared_statements });
    let database = open();
    const stride = strides[way];
    for (let bytes = lane * stride; bytes <= last; bytes += lanes * stride) {
      await cutAt(proxy, database, bytes);
      if (!options.fresh) continue;
      await database.close();
      database = open();
    }
    await database.close();
    await proxy.close();
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)));
  return last;
}

for (const way of ["cutAnswersAfter", "cutQuestionsAfter"] as const) {
  const whose = way === "cutAnswersAfter" ? "each of the server's" : "every third of our";

  test(`cut at ${whose} bytes of a query, prepared before`, async () => {
    expect(await cutEverywhere(way, read, { before: useAll })).toBeGreaterThan(40);
    const before: Work = (database) => Promise.all([readPlain(database), readPlain(database)]);
    expect(await cutEverywhere(way, readPlain, { before })).toBeGreaterThan(20);
  });

  test(`cut at ${whose} bytes of a query that is not prepared`, async () => {
    expect(await cutEverywhere(way, read, { before: useAll, prepared_statements: false })).toBeGreaterThan(40);
  });

  test(`cut at ${whose} bytes of a write`, async () => {
    expect(await cutEverywhere(way, write, { before: write })).toBeGreaterThan(20);
  });

  test(`cut at ${whose} bytes of a transaction`, async () => {
    expect(await cutEverywhere(way, transact, { before: transact })).toBeGreaterThan(100);
  });

  test(`cut at ${whose} bytes of a transaction that sends its next statements all the same`, async () => {
    expect(await cutEverywhere(way, transactOn, { before: transact })).toBeGreaterThan(100);
  });

  test(`cut at ${whose} bytes of a connection's start and its first query`, async () => {
    expect(await cutEverywhere(way, read, { fresh: true })).toBeGreaterThan(100);
  }, 180_000);
}
