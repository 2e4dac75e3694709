import { submission, submit } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness, main } from "../../test/engine-harness.ts";
import { everyReadyQueue, readyAmong, type ReadyQueue } from "./ready-queues.ts";
import { claim, claimReady } from "../lease/claim.ts";
import { pauseQueue, resumeQueue } from "./pause.ts";

const { deps, recorded } = engineHarness();
const claimer = { tenant: "default", queues: ["default", "mail"], worker_id: "w1", lease_seconds: 30 };

const add = async (...requests: Parameters<typeof submission>[0][]) => {
  const submissions = requests.map((request) => submission(request));
  const outcomes = await submit(deps, submissions, { idempotency_ttl_seconds: 60 });
  return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
};

test("nothing in a paused queue is claimed, by id or without; other queues and tenants go on", async () => {
  const [mine = "", mail = ""] = await add({}, { queue: "mail" });
  await pauseQueue(deps, main);
  await pauseQueue(deps, { tenant: "acme", queue: "mail" });
  expect((await claim(deps, [mine, mail], claimer)).map(({ id }) => id)).toEqual([mail]);
  expect(await claimReady(deps, 10, claimer)).toEqual([]);
  await resumeQueue(deps, main);
  expect((await claimReady(deps, 10, claimer)).map(({ id }) => id)).toEqual([mine]);
});

test("pausing or resuming again changes nothing, and is reported once", async () => {
  const first = await pauseQueue(deps, main);
  expect(await pauseQueue(deps, main)).toEqual(first);
  expect(await resumeQueue(deps, main)).toEqual({ resumed: true });
  expect(await resumeQueue(deps, main)).toEqual({ resumed: false });
  expect(recorded.events).toEqual([
    { event: "queue_paused", ...main },
    { event: "queue_resumed", ...main },
  ]);
});

test("pausing and resuming a queue again and again does not make its list longer", async () => {
  const ids = await add({}, {}, {});
  for (let turn = 0; turn < 3; turn += 1) {
    await pauseQueue(deps, main);
    await resumeQueue(deps, main);
  }
  expect((await deps.signal.take([main], 10)).ids).toEqual(ids);
});

test("the sweep leaves paused queues alone, and a resumed one is signalled at once, oldest first", async () => {
  const ids = await add({}, {}, {});
  await add({ queue: "mail" });
  await pauseQueue(deps, main);
  const mail = { tenant: "default", queue: "mail", marked: false, paused: false };
  const every: ReadyQueue[] = [];
  for await (const queue of everyReadyQueue(deps)) every.push(queue);
  expect(every).toEqual([mail]);
  expect(await readyAmong(deps, [{ tenant: "default", queue: "default" }, mail])).toEqual([mail]);
  // A worker pops them in vain.
  expect((await deps.signal.take([main], 10)).ids).toEqual(ids);
  expect(await claim(deps, ids, claimer)).toEqual([]);
  await resumeQueue(deps, main);
  expect((await deps.signal.take([main], 10)).ids).toEqual(ids);
});
