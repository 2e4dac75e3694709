import type { Database } from "@atlasqueue/core";

/** Where a move is: before a statement, before its COMMIT, or after it but before anyone has its answer. */
export type Step = "statement" | "commit" | "answer";

type Unsafe = (text: string, params?: unknown[], options?: object) => object;

/** Asks for rows as lists, if the query that is sent instead was asked for them. */
type Shape = (query: object) => object;

/** In place of the driver's query, which is sent when it is awaited, and may be part of another instead. */
function inPlaceOf(query: object, work: (shape: Shape) => Promise<unknown>): object {
  let begun: Promise<unknown> | undefined;
  let as_lists = false;
  const shape: Shape = (sent) => (as_lists ? (sent as { values(): object }).values() : sent);
  const run = () => (begun ??= work(shape));
  return Object.assign(query, {
    values() {
      as_lists = true;
      return query;
    },
    // What `bounded` needs from a query: whether it was sent, and how to cancel it.
    state: { socket: { bytesRead: 0, destroy() {} } },
    canceller: null,
    then: (...call: Parameters<Promise<unknown>["then"]>) => run().then(...call),
    catch: (...call: Parameters<Promise<unknown>["catch"]>) => run().catch(...call),
    finally: (...call: Parameters<Promise<unknown>["finally"]>) => run().finally(...call),
  });
}

/**
 * A database that calls back before each step of whatever is done with it (with the step's number, its statement, and all that its transaction has sent), so
 * that a test can stop a move there, do something else meanwhile, and let it go on; or throw there, as when the
 * connection breaks. A single statement becomes an explicit transaction, so that it can be stopped while it holds its
 * locks. With `in_turn` the transactions that a move has side by side come one after the other, so that a step has the
 * same number each time, and only the one that is stopped holds anything.
 *
 * @example
 * const stepping = steppingDatabase(database, async (step, number) => { if (number === 2) await somethingElse(); });
 */
export function steppingDatabase(
  database: Database,
  onStep: (step: Step, number: number, text: string, sent: readonly string[]) => Promise<void> | void,
  { in_turn = false }: { in_turn?: boolean } = {},
): Database {
  let number = 0;
  const step = async (kind: Step, text: string, sent: readonly string[]): Promise<void> => {
    number += 1;
    await onStep(kind, number, text, sent);
  };
  /** One at a time, even those that are sent together. */
  const steppedTransaction = (tx: { unsafe: Unsafe }) => {
    const sent: string[] = [];
    let last: Promise<unknown> = Promise.resolve();
    const after = async (before: Promise<unknown>, call: Parameters<Unsafe>, shape: Shape): Promise<unknown> => {
      await before;
      sent.push(call[0]);
      await step("statement", call[0], sent);
      return shape(tx.unsafe(...call));
    };
    const inTurn = (call: Parameters<Unsafe>, shape: Shape) => (last = after(last, call, shape));
    return {
      unsafe: (...call: Parameters<Unsafe>) => inPlaceOf(tx.unsafe(...call), (shape) => inTurn(call, shape)),
      sentAll: () => last,
      sent,
    };
  };
  const single = async (call: Parameters<Unsafe>, shape: Shape): Promise<unknown> => {
    const [text] = call;
    await step("statement", text, [text]);
    const rows = await database.sql.begin(async (tx) => {
      const answer = await shape((tx as unknown as { unsafe: Unsafe }).unsafe(...call));
      await step("commit", text, [text]);
      return answer;
    });
    await step("answer", text, [text]);
    return rows;
  };
  const begin = async (options: string, work: (tx: object) => Promise<unknown>): Promise<unknown> => {
    let sent: readonly string[] = [];
    const result = await database.sql.begin(options, async (tx) => {
      const stepped = steppedTransaction(tx as unknown as { unsafe: Unsafe });
      sent = stepped.sent;
      const done = await work(stepped);
      await stepped.sentAll();
      await step("commit", "COMMIT", sent);
      return done;
    });
    await step("answer", "COMMIT", sent);
    return result;
  };
  let last: Promise<unknown> = Promise.resolve();
  const turn = <T>(work: () => Promise<T>): Promise<T> => {
    if (!in_turn) return work();
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
  const sql = new Proxy(database.sql, {
    get(target, name) {
      if (name === "unsafe")
        return (...call: Parameters<Unsafe>) =>
          inPlaceOf((target.unsafe as Unsafe)(...call), (shape) => turn(() => single(call, shape)));
      if (name === "begin") return (...call: Parameters<typeof begin>) => turn(() => begin(...call));
      return Reflect.get(target, name) as unknown;
    },
  });
  // A move stopped by a test, on a slow machine, is not a server that has fallen silent.
  // Statements outside of the pool are stopped like all else.
  return { ...database, sql, spare: sql, timeout_ms: 120_000 };
}

/** A connection that broke. */
export function brokenConnection(): Error {
  return Object.assign(new Error("write CONNECTION_CLOSED"), { code: "CONNECTION_CLOSED" });
}
