import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { clientOf, testApi, workersOf } from "../test-api.ts";
import { createClient } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

const fast = { concurrency: 100, waitSeconds: 1 };
const work = workersOf(client, fast);

test("a remote handler is given the results of the jobs that its own waited for, however many", async () => {
  const queue = "remote";
  work(queue, async ({ n }, { job, parents, parentCounts }) => {
    if (job.type === "give") return n;
    const found = Object.values(await parents());
    const { succeeded, dead } = await parentCounts();
    return { sum: found.reduce((total, { result }) => total + Number(result), 0), succeeded, dead };
  });
  for (const count of [3, 150]) {
    const flow = client.flow();
    for (let n = 1; n <= count; n += 1) flow.add({ type: "give", payload: { n }, queue });
    flow.afterAll({ type: "sum", queue });
    const { last } = await flow.submit();
    expect(await last?.result()).toEqual({ sum: (count * (count + 1)) / 2, succeeded: count, dead: 0 });
    expect(await client.get(last?.id ?? "")).toMatchObject({
      parents_complete: count === 3,
      parent_counts: { succeeded: count },
    });
    const page = await client.parents(last?.id ?? "", { limit: 2 });
    expect(page.items.map(({ ref, status, result }) => [ref, status, result])).toEqual([
      ["job-1", "succeeded", 1],
      ["job-2", "succeeded", 2],
    ]);
  }
});

test("999 parents with results of 60 KiB are read in pages of a megabyte", { tags: ["slow"] }, async () => {
  const flow = client.flow();
  for (let n = 0; n < 999; n += 1) flow.add({ type: "give", queue: "large" });
  flow.afterAll({ type: "count", queue: "large" });
  const { last } = await flow.submit();
  // Compressed to a third: of such a result the size is known only once it is read.
  await api.database.sql`
    UPDATE atlasqueue.jobs SET result = to_json((
      SELECT string_agg(md5(n::text || jobs.id) || repeat('x', 64), '') FROM generate_series(1, 640) AS n))
    WHERE type = 'give' AND queue = 'large'`;
  let seen = 0;
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
    const page = await client.parents(last?.id ?? "", cursor === undefined ? {} : { cursor });
    seen += page.items.length;
    cursor = page.next_cursor;
  }
  expect(seen).toBe(999);
  expect(pages).toBeLessThan(70);
});

test("a remote handler whose job waited for none is given none", async () => {
  work("alone", async (_payload, { parents, parentCounts }) => [await parents(), (await parentCounts()).succeeded]);
  expect(await (await client.submit({ type: "a", queue: "alone" })).result()).toEqual([{}, 0]);
});

test.each([
  ["says that its database is away", 7, { status: 503, type: "/problems/unavailable" }],
  ["is behind a gateway that says 404", 1, { status: 404 }],
])(
  "a remote handler waits for its parents while the API %s",
  { tags: ["slow"], timeout: 60_000 },
  async (what, count, { status, ...fields }) => {
    let left = count;
    const remote = createClient({
      url: api.url,
      async fetch(input, init) {
        if (!String(input).includes("/parents") || (left -= 1) < 0) return fetch(input, init);
        return Response.json({ title: "no", status, detail: "no", instance: "1", ...fields }, { status });
      },
    });
    const queue = `away-${what.length}`;
    workersOf(remote, fast)(queue, async (_payload, { job, parents }) =>
      job.type === "give" ? 1 : Object.keys(await parents()).length,
    );
    const flow = client.flow();
    for (let n = 0; n < 101; n += 1) flow.add({ type: "give", queue });
    flow.afterAll({ type: "count", queue, max_attempts: 1 });
    const { last } = await flow.submit();
    expect(await last?.result()).toBe(101);
    expect(left).toBeLessThan(0);
  },
);
