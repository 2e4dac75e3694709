import { eventually } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { recorder } from "../../test/recorder.ts";
import { testApi, type TestApi } from "../../test/test-api.ts";
import { createClient, type Client } from "../index.ts";

let api: TestApi;
let client: Client;
beforeAll(async () => {
  api = await testApi();
  client = createClient({ url: api.url });
});
afterAll(() => api.close());

/** What a handler that hogs the processor does, or a process that is stopped for a while. */
function standStill(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

/** A worker that stands still for longer than a lease while the answer with its first jobs lies in its socket. */
function standingStill(queue: string, meanwhile: () => Promise<unknown>) {
  let stood = false;
  const late = createClient({
    url: api.url,
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (stood || !String(input).endsWith("/lease")) return response;
      const text = await response.text();
      if ((JSON.parse(text) as { jobs: unknown[] }).jobs.length > 0) {
        stood = true;
        await meanwhile();
        standStill(1_500);
      }
      return new Response(text, response);
    },
  });
  const started: string[] = [];
  const told = recorder();
  const worker = late.work(queue, (_payload, { job }) => void started.push(job.id), {
    observe: told.observe,
    leaseSeconds: 1,
  });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  return { started, ...told };
}

test("a worker that stood still for longer than a lease starts no job that it has lost meanwhile", async () => {
  const ids = (await client.submitMany(Array.from({ length: 3 }, () => ({ type: "a", queue: "lost" })))).map(
    ({ id }) => id,
  );
  const [lost = "", ...others] = ids;
  const { started, named } = standingStill("lost", () => client.cancel(lost));
  for (const id of others) expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  await eventually(() => expect(named("lease_lost")).toMatchObject([{ job: { id: lost }, during: "starting" }]));
  expect(started.toSorted()).toEqual(others.toSorted());
});

test("a job behind a handler that hogs the processor is renewed before it is started", async () => {
  await client.submitMany(Array.from({ length: 2 }, () => ({ type: "a", queue: "hog" })));
  const sent: string[] = [];
  const counting = createClient({
    url: api.url,
    fetch: (input, init) => (sent.push(String(input)), fetch(input, init)),
  });
  const started: { id: string; renewed: boolean }[] = [];
  const worker = counting.work(
    "hog",
    (_payload, { job: { id } }) => {
      started.push({ id, renewed: sent.some((url) => url.endsWith(`/${id}/heartbeat`)) });
      if (started.length === 1) standStill(1_500);
    },
    { leaseSeconds: 1, concurrency: 2 },
  );
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  await eventually(() => expect(started.map(({ renewed }) => renewed)).toEqual([false, true]));
});
