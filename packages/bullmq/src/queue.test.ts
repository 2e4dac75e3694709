import { randomUUID } from "node:crypto";
import { createClient } from "@atlasqueue/client";
import { forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { fakeApi } from "../test/fake-api.ts";
import { startFacade } from "../test/worlds.ts";
import { Queue } from "./index.ts";

const facade = forFile(startFacade);

function queue(): Queue {
  const one = facade.world();
  onTestFinished(() => one.close());
  return one.queue();
}

test("a batch with a jobId that is taken adds each of its other jobs once", async () => {
  const mail = queue();
  const first = await mail.add("first", { n: 1 }, { jobId: "taken" });
  // More than one request takes.
  const large = Array.from({ length: 5 }, (_, n) => ({ name: "large", data: { n, text: "x".repeat(250_000) } }));
  const added = await mail.addBulk([...large, { name: "last", data: { n: 2 }, opts: { jobId: "taken" } }]);
  expect(added.at(-1)?.id).toBe(first.id);
  const stored = (await mail.getJobs("waiting")).map(({ id }) => id);
  expect(stored.toSorted()).toEqual(added.map(({ id }) => id).toSorted());
});

test("a jobId that is a UUID finds its job", async () => {
  const mail = queue();
  const jobId = randomUUID();
  const { id } = await mail.add("a", {}, { jobId });
  expect((await mail.getJob(jobId))?.id).toBe(id);
  expect(await mail.remove(jobId)).toBe(1);
  expect(await mail.getJob(jobId)).toBeUndefined();
});

test("changes of limits at once are all made, also after one that is refused", async () => {
  const mail = queue();
  const refused = mail.setGlobalRateLimit(-1, 1_000);
  await Promise.all([
    mail.setGlobalConcurrency(7),
    mail.setGlobalRateLimit(20, 60_000),
    expect(refused).rejects.toThrow("limit"),
  ]);
  const client = createClient({ url: facade.url });
  const { limits } = await client.queue(mail.name);
  expect(limits).toMatchObject({ concurrency: 7, rate: { limit: 20, period_seconds: 60 } });
  await mail.removeGlobalConcurrency();
  expect((await client.queue(mail.name)).limits).toMatchObject({ concurrency: null, rate: { limit: 20 } });
});

test("getJobs() reads 10,000 jobs at most", async () => {
  const items = Array.from({ length: 200 }, () => ({ status: "queued", priority: 0, created_at: "2026-01-01" }));
  const { url, asked } = await fakeApi(() => ({ status: 200, body: { items, next_cursor: "more" } }));
  const mail = new Queue("mail", { connection: { url } });
  await expect(mail.getWaiting(0, 9)).rejects.toThrow("getJobs() reads 10,000 jobs of a type at most");
  expect(asked.length).toBe(51);
  expect(await mail.getJobs("waiting", 0, 9)).toHaveLength(10);
});
