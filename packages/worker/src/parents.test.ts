import { createQueue } from "@atlasqueue/core";
import { isolatedHandlers, sumParents } from "../test/isolated-handlers.ts";
import { any, workerHarness } from "../test/harness.ts";
import { onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineHandler, DoNotRetryError, type JobContext } from "./index.ts";

const { work, url, becomes } = workerHarness();

/** Their ids, in their order; of `then` the last. */
async function submit(batch: Parameters<ReturnType<typeof createQueue>["submitFlow"]>[0]): Promise<string[]> {
  const queue = createQueue({ databaseUrl: url() });
  onTestFinished(() => queue.close());
  const { jobs, then } = await queue.submitFlow(batch);
  return [...jobs, ...(then ? [then] : [])].map(({ id }) => id);
}
const give = defineHandler("give", z.object({ n: z.number() }), ({ n }) => n);
const dies = defineHandler("dies", any, () => {
  throw new DoNotRetryError("it cannot help");
});
const look = async (_payload: unknown, { parents, parentCounts }: JobContext) => {
  const { succeeded, dead } = await parentCounts();
  return { parents: await parents(), succeeded, dead };
};
const batch = {
  jobs: [
    { ref: "a", type: "give", payload: { n: 1 } },
    { ref: "b", type: "dies" },
  ],
  then: { type: "look" },
};

test("a handler is given the results of its job's parents", async () => {
  work([give, dies, defineHandler("look", any, look)]);
  const [a = "", b = "", last] = await submit(batch);
  await becomes(last, {
    status: "succeeded",
    result: {
      parents: { a: { id: a, status: "succeeded", result: 1 }, b: { id: b, status: "dead", result: null } },
      succeeded: 1,
      dead: 1,
    },
  });
});

test.each(["sum", "sum-isolated"])("%s: all of them, also when they are too many to come at once", async (kind) => {
  const sum = defineHandler("sum-parents", any, sumParents);
  work([give, sum, ...isolatedHandlers], { concurrency: 50 });
  const jobs = Array.from({ length: 250 }, (_, n) => ({ ref: `p${n}`, type: "give", payload: { n } }));
  const ids = await submit({ jobs, then: { type: kind === "sum" ? "sum-parents" : "sum-isolated" } });
  await becomes(ids.at(-1), { status: "succeeded", result: { sum: 31_125, succeeded: 250 } });
});

test("a job that waited for no other has none", async () => {
  work([defineHandler("look", any, look)]);
  const [id] = await submit({ jobs: [{ type: "look" }] });
  await becomes(id, { status: "succeeded", result: { parents: {}, succeeded: 0, dead: 0 } });
});
