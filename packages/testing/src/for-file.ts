import { afterAll, beforeAll } from "vitest";

type Ends = { close(): unknown } | { drop(): unknown } | { stop(): unknown };

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
    // What a test may stop and start again is closed at the end.
    return "close" in ends ? ends.close() : "drop" in ends ? ends.drop() : ends.stop();
  });
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(it(), name) as unknown,
    has: (_, name) => Reflect.has(it(), name),
    ownKeys: () => Reflect.ownKeys(it()),
    getOwnPropertyDescriptor(_, name) {
      const found = Reflect.getOwnPropertyDescriptor(it(), name);
      return found && { ...found, configurable: true };
    },
  });
}
