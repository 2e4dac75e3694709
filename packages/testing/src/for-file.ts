import { afterAll, beforeAll } from "vitest";

type Ends = { stop(): unknown } | { drop(): unknown } | { close(): unknown };

/**
 * Opens something before the tests of a file, and ends it after them. What is returned stands for it: until then it has
 * no properties.
 *
 * @example
 * const own = forFile(testDatabase);
 * test("it is empty", async () => expect(await own.database.sql`SELECT FROM atlasqueue.jobs`).toEqual([]));
 */
export function forFile<T extends Ends>(open: () => Promise<T>): T {
  let opened: T | undefined;
  const it = (): T => {
    if (!opened) throw new Error("it is not open before the tests begin");
    return opened;
  };
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => {
    const ends = it();
    return "stop" in ends ? ends.stop() : "drop" in ends ? ends.drop() : ends.close();
  });
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(it(), name) as unknown,
    has: (_, name) => Reflect.has(it(), name),
    ownKeys: () => Reflect.ownKeys(it()),
    getOwnPropertyDescriptor: (_, name) => ({ ...Reflect.getOwnPropertyDescriptor(it(), name), configurable: true }),
  });
}
