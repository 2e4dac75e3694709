import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checksOfJobs } from "../test/checks-of-jobs.ts";
import { checksOfQueues } from "../test/checks-of-queues.ts";
import { checksOfWorkers } from "../test/checks-of-workers.ts";
import { differences, refusals } from "../test/differences.ts";
import { bullmqWorld, startFacade, type World } from "../test/worlds.ts";
import { NotSupportedError } from "./index.ts";

// The page says which of BullMQ's documented behaviour holds. Each row of its tables is checked here: what is the same, on
// BullMQ too; what differs or is refused, on the facade.
const page = readFileSync(new URL("../../../apps/docs/pages/migrate/bullmq-facade.md", import.meta.url), "utf8");
const rows = (heading: string) =>
  [...(page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "").matchAll(/^\| (.*?) +\|/gm)]
    .map(([, cell = ""]) => cell)
    .slice(2);

const same = { ...checksOfJobs, ...checksOfWorkers, ...checksOfQueues };
let facade: Awaited<ReturnType<typeof startFacade>>;
beforeAll(async () => void (facade = await startFacade()));
afterAll(() => facade.stop());

async function run(world: World, check: (world: World) => Promise<void>): Promise<void> {
  try {
    await check(world);
  } finally {
    await world.close();
  }
}

test("each row of the page has a check, and each check a row", () => {
  expect(Object.keys(same).toSorted()).toEqual(rows("The same").toSorted());
  expect(Object.keys(differences).toSorted()).toEqual(rows("Different").toSorted());
  expect(Object.keys(refusals).toSorted()).toEqual(rows("Refused").toSorted());
});

describe.each(Object.entries(same))("%s", { tags: ["slow"] }, (_row, check) => {
  // Its version is pinned: only a new one can change what it does.
  test("in BullMQ", { tags: ["nightly"] }, () => run(bullmqWorld(), check));
  test("in the facade", () => run(facade.world(), check));
});

test.each(Object.entries(differences))("%s: different", { tags: ["slow"] }, async (_row, check) => {
  await run(facade.world(), check);
});

test.each(Object.entries(refusals))("%s: refused, with what to use instead", async (_row, attempt) => {
  const refused = async (world: World) => {
    await expect((async () => attempt(world))()).rejects.toThrow(NotSupportedError);
    await expect((async () => attempt(world))()).rejects.toThrow(/is not supported by @atlasqueue\/bullmq\. \S+ .*\.$/);
  };
  await run(facade.world(), refused);
});
