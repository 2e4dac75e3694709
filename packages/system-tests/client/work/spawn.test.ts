import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { clientOf, testApi, workersOf } from "../test-api.ts";
import { createClient, defineHandler, defineJob } from "@atlasqueue/client";
import { z } from "zod";

const api = forFile(testApi);
const client = clientOf(api);
const work = workersOf(client);

const part = defineJob("part", z.object({ n: z.number() }));
const split = defineJob("split", z.object({ parts: z.number() }));

test("what a remote handler adds is stored with its result, and what waits for the job waits for it", async () => {
  const order: string[] = [];
  work("spawning", [
    defineHandler(split, ({ parts }, { spawn }) => {
      order.push("split");
      for (let n = 0; n < parts; n += 1) spawn(part.submission({ n }, { queue: "spawning" }), { dependantsWait: true });
      return parts;
    }),
    defineHandler(part, () => void order.push("part")),
    defineHandler(defineJob("sum", z.object({})), () => void order.push("sum")),
  ]);
  const flow = client.flow();
  const first = flow.add(split, { parts: 3 }, { queue: "spawning" });
  flow.add({ type: "sum", queue: "spawning", depends_on: [first] });
  const { id, jobs } = await flow.submit();
  expect(await jobs[0]?.result({ timeoutMs: 20_000 })).toBe(3);
  await jobs[1]?.result({ timeoutMs: 20_000 });
  expect(order).toEqual(["split", "part", "part", "part", "sum"]);
  expect((await client.flows.get(id ?? "")).items).toHaveLength(5);
});

test("jobs that the API refuses fail the attempt at once, and say which", async () => {
  const refused = defineJob("refused", z.object({ unique: z.boolean() }));
  const handler = defineHandler(refused, ({ unique }, { spawn }) => {
    const key = { key: "k", on_conflict: "reject" } as const;
    spawn(unique ? { type: "x", unique: key } : { type: "x", depends_on: ["nobody"] });
  });
  work("refusing", handler);
  await client.submit({ type: "x", unique: { key: "k" } });
  const options = { queue: "refusing", max_attempts: 1 };
  const faulty = await client.submit(refused, { unique: false }, options);
  expect(await client.wait(faulty.id)).toMatchObject({
    status: "dead",
    last_error: expect.stringMatching("^SpawnError: /children/0/depends_on/0") as string,
  });
  const taken = await client.submit(refused, { unique: true }, options);
  expect(await client.wait(taken.id)).toMatchObject({
    status: "dead",
    last_error: expect.stringMatching("^SpawnError: Nothing was stored: /children/0/unique") as string,
  });
});

test.each(["too-many-queues", "storage-full"])("so do those that it has no more room for: %s", async (type) => {
  const full = createClient({
    url: api.url,
    fetch: (input, init) => {
      if (!String(init?.body).includes("children")) return fetch(input, init);
      const problem = { type: `/problems/${type}`, title: "Too many", status: 429, detail: "no more", instance: "x" };
      return Promise.resolve(Response.json(problem, { status: 429 }));
    },
  });
  workersOf(full)(type, (_payload, { spawn }) => spawn({ type: "x", queue: "new" }));
  const { id } = await client.submit({ type: "a", queue: type, max_attempts: 1 });
  expect(await client.wait(id)).toMatchObject({ status: "dead", last_error: "SpawnError: no more" });
});

test("an ack by hand adds jobs, once", async () => {
  await client.submit({ type: "a", queue: "by-hand" });
  const [held] = await client.lease("by-hand", { workerId: "w" });
  if (!held) throw new Error("nothing was leased");
  for (let time = 0; time < 2; time += 1)
    expect(await client.ack(held, 1, { children: [{ type: "b", queue: "by-hand" }] })).toMatchObject({ result: 1 });
  expect(await client.lease("by-hand", { workerId: "w", maxJobs: 10 })).toHaveLength(1);
});
