import { beforeEach, expect, test } from "vitest";
import { engineHarness, tenant } from "../../../test/engine-harness.ts";
import { retry } from "../../jobs/retry.ts";
import { createLogger } from "../../observe/log.ts";
import { createDeadLetterCheck } from "./check-dead-letters.ts";

const { deps, addMany, die } = engineHarness();
let check: ReturnType<typeof createDeadLetterCheck>;
beforeEach(() => void (check = createDeadLetterCheck({ ...deps, logger: createLogger("silent", "test") })));

/** Two dead jobs, the first of which died first. */
async function two(): Promise<string[]> {
  const ids = await addMany(2);
  for (const id of ids) await die(id);
  return ids;
}
const newestDead = async () =>
  (await deps.database.sql<{ newest: Date | null }[]>`SELECT max(dead_at) AS newest FROM atlasqueue.jobs`)[0]?.newest ??
  null;
const listed = async () => (await deps.signal.deadLetters.page(0, 100)).toSorted();

test("a dead letter that was retried, and of which the list was not told, leaves it at the second look", async () => {
  const [first = "", second = ""] = await two();
  await check(await newestDead());
  expect(await listed()).toEqual([first, second].toSorted());
  // As when the answer of the statement is lost.
  await retry(deps, tenant, first);
  await check(await newestDead());
  expect(await listed()).toHaveLength(2);
  await check(await newestDead());
  expect(await listed()).toEqual([second]);
});

test("one that the list has lost is in it again at the second look", async () => {
  const [first = "", second = ""] = await two();
  await check(await newestDead());
  await deps.signal.deadLetters.remove([first]);
  await check(await newestDead());
  expect(await listed()).toEqual([second]);
  await check(await newestDead());
  expect(await listed()).toEqual([first, second].toSorted());
});

test("so is one that died long before where the list goes on from", async () => {
  const [first = "", second = ""] = await two();
  await deps.database.sql`UPDATE atlasqueue.jobs SET dead_at = dead_at - interval '5 minutes' WHERE id = ${first}`;
  await check(await newestDead());
  await deps.signal.deadLetters.remove([first]);
  await check(await newestDead());
  await check(await newestDead());
  expect(await listed()).toEqual([first, second].toSorted());
});
