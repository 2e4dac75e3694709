import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { clientOf, testApi } from "../test-api.ts";

const api = forFile(testApi);
const client = clientOf(api);

const left = async (queue: string) =>
  (await api.database.sql`SELECT type FROM atlasqueue.jobs WHERE queue = ${queue} AND status <> 'succeeded'`).length;
const work = (queue: string, types: string[], ran: string[]) => {
  const worker = client.work(queue, (_payload, { job }) => void ran.push(job.type), { types, waitSeconds: 1 });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
};

test("remote workers of different types each take their own from one queue, in whichever order they wait", async () => {
  const [mails, reports]: [string[], string[]] = [[], []];
  work("mixed", ["mail"], mails);
  work("mixed", ["report"], reports);
  for (let at = 0; at < 60; at += 1) await client.submit({ type: at % 3 === 0 ? "mail" : "report", queue: "mixed" });
  await eventually(async () => expect(await left("mixed")).toBe(0), { timeout_ms: 30_000 });
  expect([new Set(mails), mails.length, new Set(reports), reports.length]).toEqual([
    new Set(["mail"]),
    20,
    new Set(["report"]),
    40,
  ]);
});

test("a lease of some types leaves jobs of others to other requests, with no attempt counted", async () => {
  await client.submitMany([
    { type: "report", queue: "one" },
    { type: "report", queue: "one" },
    { type: "mail", queue: "one" },
  ]);
  const [mail] = await client.lease("one", { workerId: "w", types: ["mail"], maxJobs: 5 });
  expect(mail?.job.type).toBe("mail");
  expect(await client.lease("one", { workerId: "w", types: ["mail"], maxJobs: 5, waitSeconds: 1 })).toEqual([]);
  const waiting = client.lease("one", { workerId: "w", types: ["mail"], waitSeconds: 10 });
  const reports = await client.lease("one", { workerId: "w", maxJobs: 5, waitSeconds: 5 });
  expect(reports.map(({ job: { type, attempts } }) => [type, attempts])).toEqual([
    ["report", 1],
    ["report", 1],
  ]);
  const { id } = await client.submit({ type: "mail", queue: "one" });
  expect((await waiting).map(({ job }) => job.id)).toEqual([id]);
});

test("an empty list of types is refused by name", async () => {
  await expect(client.lease("one", { workerId: "w", types: [] })).rejects.toThrow(
    /types must be a list of 1 to 100 job types/,
  );
});
