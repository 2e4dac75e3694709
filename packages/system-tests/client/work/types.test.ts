import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { z } from "zod";
import { clientOf, testApi, workersOf } from "../test-api.ts";
import { defineHandler, defineJob } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

const left = async (queue: string) =>
  (await api.database.sql`SELECT type FROM atlasqueue.jobs WHERE queue = ${queue} AND status <> 'succeeded'`).length;
const work = workersOf(client);
const workOn = (types: string[], ran: string[]) =>
  work("mixed", (_payload, { job }) => void ran.push(job.type), { types, waitSeconds: 1 });

test("remote workers of different types each take their own from one queue, in whichever order they wait", async () => {
  const [mails, reports]: [string[], string[]] = [[], []];
  workOn(["mail"], mails);
  workOn(["report"], reports);
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

const any = z.looseObject({});
const old_version = [defineHandler(defineJob("old", any), () => {})];
const new_version = [...old_version, defineHandler(defineJob("new", any), () => "done")];
/** As if the sweep's time had come. */
const offer = () => api.database.sql`UPDATE atlasqueue.jobs SET due_at = now() WHERE due_at IS NOT NULL`;

test("a job whose type has no handler here goes back with no attempt counted, and runs where there is one", async () => {
  const { named } = work("types", old_version);
  const { id } = await client.submit({ type: "new", queue: "types", max_attempts: 1 });
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "scheduled", attempts: 0 }));
  expect(named("job_type_unknown")).toMatchObject([{ job: { id } }]);
  expect(named("handler_start")).toEqual([]);
  work("types", new_version);
  await eventually(async () => {
    await offer();
    expect(await client.get(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });
});

test("when it has been ready for `unknownTypeSeconds`, it fails", async () => {
  const { id } = await client.submit({ type: "new", queue: "old", max_attempts: 1 });
  await api.database.sql`UPDATE atlasqueue.jobs SET run_at = run_at - interval '61 seconds' WHERE id = ${id}`;
  work("old", old_version, { unknownTypeSeconds: 60 });
  const last_error = 'UnknownType: no handler for type "new"';
  expect(await client.wait(id)).toMatchObject({ status: "dead", attempts: 1, last_error });
});
