import { createDatabase, forFile, postgresUrl, tcpProxy, type TcpProxy } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { bounded } from "./bounded.ts";
import { connectDatabase, type Database } from "./connect.ts";
import { isUnavailable, outcomeUnknown } from "./errors.ts";
import { executeOn } from "./statement.ts";
import { inTransaction, sentTogether } from "./transaction.ts";

// A pool behind a proxy that cuts its connections at every point of every message, the server's and ours: no answer may
// be wrong, no pool entry may be dead afterwards, and no error may reach the process.

const created = forFile(() => createDatabase(postgresUrl()));
const watcher = forFile(async () => connectDatabase({ url: created.url, connectionsMax: 4, timeoutMs: 20_000 }));
let next = 0;
beforeAll(async () => {
  await watcher.sql`CREATE TABLE public.written (number int PRIMARY KEY)`;
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

/** Without parameters the driver sends it all at once. */
async function readPlain(database: Database): Promise<void> {
  const rows = await bounded(database, database.sql<{ n: number }[]>`SELECT n FROM generate_series(1, 3) AS n`);
  expect([...rows]).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
}

const insert = "INSERT INTO public.written VALUES ($1) RETURNING number";

/** What is reported about a write must be true: of one that was answered, and of one that certainly failed. */
async function truthOf(number: number, work: Promise<unknown>): Promise<void> {
  const isWritten = async () => (await watcher.sql`SELECT 1 FROM public.written WHERE number = ${number}`).length > 0;
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

/** All statements and the COMMIT at once. */
function transactTogether(database: Database): Promise<void> {
  const number = mark();
  const work = async () => {
    const [rows, written] = await sentTogether(database, [
      { text, params: [number] },
      { text: insert, params: [number] },
    ]);
    expect([...(rows ?? [])]).toEqual(rowsOf(number));
    expect([...(written ?? [])]).toEqual([{ number }]);
  };
  return truthOf(number, work());
}

/** Its work ignores a failed statement and sends the next ones, two at once. */
function transactOn(database: Database): Promise<void> {
  const number = mark();
  const work = inTransaction(database, async (execute) => {
    await execute({ text, params: [number] }).catch(() => {});
    await Promise.allSettled([execute({ text, params: [number] }), execute({ text: insert, params: [number] })]);
  });
  return truthOf(number, work);
}

/** The whole pool at once: a dead entry would keep its query. */
const useAll: Work = (database) => Promise.all(Array.from({ length: slots * 2 }, () => read(database)));

type Way = "cutAnswersAfter" | "cutQuestionsAfter";
type Exchange = { prepared_statements?: boolean; before?: Work; fresh?: boolean };
/** Concurrent pools, each taking its share of the bytes: they wait more than they work. */
const lanes = 8;

/**
 * Every third byte: no message is shorter than five, so each is cut in its head and in its body. `CUTS=all` cuts what the
 * server sends at every byte, as our side reads partial messages.
 */
const strides: Record<Way, number> = { cutAnswersAfter: process.env["CUTS"] === "all" ? 1 : 3, cutQuestionsAfter: 3 };

/**
 * Cut at byte 0, 1, 2 … of what is sent from here on, until the work ends before the cut. Returns how many there were.
 */
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
    // This deadline exposes what a dead pool entry swallows.
    const open = () =>
      connectDatabase({
        url: proxy.url,
        connectionsMax: connections_max,
        timeoutMs: 5_000,
        preparedStatements: prepared_statements,
      });
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
  const whose = way === "cutAnswersAfter" ? "the server's" : "our";

  test(`cut at ${whose} bytes of a query, prepared before`, { tags: ["slow"] }, async () => {
    expect(await cutEverywhere(way, read, { before: useAll })).toBeGreaterThan(40);
    const before: Work = (database) => Promise.all([readPlain(database), readPlain(database)]);
    expect(await cutEverywhere(way, readPlain, { before })).toBeGreaterThan(20);
  });

  test(`cut at ${whose} bytes of a query that is not prepared`, { tags: ["slow"] }, async () => {
    expect(await cutEverywhere(way, read, { before: useAll, prepared_statements: false })).toBeGreaterThan(40);
  });

  test(`cut at ${whose} bytes of a write`, async () => {
    expect(await cutEverywhere(way, write, { before: write })).toBeGreaterThan(20);
  });

  test(`cut at ${whose} bytes of a transaction`, { tags: ["slow"] }, async () => {
    expect(await cutEverywhere(way, transact, { before: transact })).toBeGreaterThan(100);
  });

  test(`cut at ${whose} bytes of a transaction sent together with its COMMIT`, { tags: ["slow"] }, async () => {
    expect(await cutEverywhere(way, transactTogether, { before: transact })).toBeGreaterThan(100);
    expect(await cutEverywhere(way, transactTogether, { before: useAll, prepared_statements: false })).toBeGreaterThan(
      100,
    );
  });

  test(`cut at ${whose} bytes of a transaction that sends its next statements anyway`, { tags: ["slow"] }, async () => {
    expect(await cutEverywhere(way, transactOn, { before: transact })).toBeGreaterThan(100);
  });

  test(
    `cut at ${whose} bytes of a connection's start and its first query`,
    { tags: ["slow"], timeout: 180_000 },
    async () => {
      expect(await cutEverywhere(way, read, { fresh: true })).toBeGreaterThan(100);
    },
  );
}
