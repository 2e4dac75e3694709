import { queueScaling } from "@atlasqueue/contract";
import { memorySignal, noSignal } from "@atlasqueue/core";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const signal = memorySignal();
const api = forFile(() => testApp({ signal }));

const asked = async (queue: string, of = api) =>
  queueScaling.parse(await (await of.get(`/v1/queues/${queue}/scaling`)).json());
const send = (method: string, path: string, body?: object) => api.send(method, `/v1${path}`, undefined, body);
const submit = async (queue: string, jobs: number) => {
  for (let at = 0; at < jobs; at += 1) await api.post(`${queue}-${at}`, { type: "a", queue });
};
const age = (queue: string, seconds: number) => api.deps.database.sql`
  UPDATE atlasqueue.jobs SET ready_at = now() - ${seconds} * interval '1 second' WHERE queue = ${queue} AND ready_at IS NOT NULL`;
const lease = (queue: string) => send("POST", `/queues/${queue}/lease`, { worker_id: "w" });
/** The mark that wakes a worker follows the answer to a change of limits, and each lease. */
const isMarked = (queue: string) =>
  eventually(async () => expect(await signal.look({ tenant: "default", queue })).toMatchObject({ length: 1 }));
const waits = { oldest_ready_seconds: expect.closeTo(300, -2) as number };

test("a queue that has never had a job has nothing to do, and is no error that would stop an autoscaler", async () => {
  const nothing = { ready: 0, running: 0, backlog: 0, oldest_ready_seconds: 0, workers: 0, slots: 0 };
  expect(await asked("new")).toEqual({ queue: "new", ...nothing });
});

test("it says what waits and runs, since when, and which workers of the queue take jobs", async () => {
  await submit("mail", 4);
  await age("mail", 300);
  await lease("mail");
  const worker = { tenant: "default", host: "box", pid: 1, handlers: [], active: 0, lease_seconds: 30 };
  const announced = { ...worker, concurrency: 10, state: "running", queues: ["mail", "b"] } as const;
  for (const [id, more] of [
    ["w-1", {}],
    ["w-2", { concurrency: 7 }],
    ["w-3", { state: "draining" }],
    ["w-4", { queues: ["other"] }],
  ] as const)
    await signal.presence.announce({ ...announced, ...more, id });
  expect(await asked("mail")).toEqual({
    queue: "mail",
    ready: 3,
    running: 1,
    backlog: 4,
    ...waits,
    workers: 2,
    slots: 17,
  });
});

test("what waits for a pause, a limit or a rate is left to wait: more workers would not help", async () => {
  await submit("held", 5);
  await age("held", 300);
  await send("POST", "/queues/held/pause");
  expect(await asked("held")).toMatchObject({ ready: 5, backlog: 0, oldest_ready_seconds: 0 });
  await send("POST", "/queues/held/resume");
  await send("PUT", "/queues/held/limits", { concurrency: 2 });
  expect(await asked("held")).toMatchObject({ ready: 5, backlog: 2, ...waits });
  await isMarked("held");
  await lease("held");
  expect(await asked("held")).toMatchObject({ ready: 4, running: 1, backlog: 2, ...waits });
  await isMarked("held");
  await lease("held");
  expect(await asked("held")).toMatchObject({ ready: 3, running: 2, backlog: 2, oldest_ready_seconds: 0 });
  await send("PUT", "/queues/held/limits", { rate: { limit: 1, period_seconds: 3_600 } });
  await lease("held");
  await age("held", 300);
  expect(await asked("held")).toMatchObject({ backlog: 3, oldest_ready_seconds: 0 });
});

test("without Redis it says the rest, as the workers are only hidden", async () => {
  const blind = await testApp({ signal: noSignal() });
  onTestFinished(() => blind.stop());
  await blind.post("blind", { type: "a", queue: "blind" });
  expect(await asked("blind", blind)).toMatchObject({ ready: 1, backlog: 1, workers: null, slots: null });
});
