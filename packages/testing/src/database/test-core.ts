import { memorySignal, type Signal } from "@atlasqueue/core";
import { recordEvents } from "../factories.ts";
import { testDatabase, type TestDatabase } from "../servers/test-database.ts";

export type TestCore = TestDatabase & ReturnType<typeof recordEvents> & { signal: Signal };

/**
 * What core's functions want of their caller: a database of a test file's own, a signal in memory, and an observer whose
 * events it keeps.
 *
 * @example
 * const deps = forFile(testCore);
 * test("…", async () => { await cancel(deps, "default", id); expect(deps.named("job_cancelled")).toHaveLength(1); });
 */
export async function testCore(): Promise<TestCore> {
  return { ...(await testDatabase()), ...recordEvents(), signal: memorySignal() };
}
