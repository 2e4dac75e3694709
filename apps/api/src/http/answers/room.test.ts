import { leaseAnswer, settleAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { eventually } from "@atlasqueue/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { testApp } from "../../../test/test-app.ts";
import { createAnswerRoom } from "./room.ts";

const room_max = 1_000;
const answers = createAnswerRoom({ room_max, wait_ms_max: 500 });
let api: Awaited<ReturnType<typeof testApp>>;
beforeAll(async () => {
  api = await testApp({ signal: memorySignal(), answers });
});
afterAll(() => api.stop());

/** All of the room; whoever needs some waits meanwhile. */
const takeAll = () => {
  const all = answers.place("somebody", room_max);
  expect(all.enterNow()).toBe(true);
  return all;
};
afterEach(() => {
  takeAll().leave();
  expect(answers.waiting()).toBe(0);
});

let keys = 0;
const submit = async (queue: string, more: object = {}) =>
  expect((await api.post(`room-${(keys += 1)}`, { type: "a", queue, ...more })).status).toBe(201);
const lease = (queue: string, more: object = {}) =>
  api.send("POST", `/v1/queues/${queue}/lease`, undefined, { worker_id: "w", ...more });
const leased = async (answer: Response) => leaseAnswer.parse(await answer.json()).jobs;

test.each(["/v1/jobs", "/v1/jobs?search=x", "/v1/dlq", "/v1/dlq/replays", "/v1/schedules", "/jobs"])(
  "GET %s waits for room, and has its answer once there is some",
  async (path) => {
    const all = takeAll();
    const answer = api.get(path);
    await eventually(() => expect(answers.waiting()).toBe(1));
    all.leave();
    expect((await answer).status).toBe(200);
  },
);

test("a list that waits for too long is refused, and small reads and submissions need no room", async () => {
  const all = takeAll();
  const refused = await api.get("/v1/jobs");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await refused.json()).toMatchObject({ type: "/problems/no-room" });
  await submit("other");
  expect((await api.get("/v1/queues")).status).toBe(200);
  all.leave();
});

test("a caller who hangs up leaves the line", async () => {
  const all = takeAll();
  const gone = new AbortController();
  const answer = api.app.request("http://localhost/v1/jobs", {}, { given_up: gone.signal });
  await eventually(() => expect(answers.waiting()).toBe(1));
  gone.abort();
  expect((await answer).status).toBe(499);
  expect(answers.waiting()).toBe(0);
  all.leave();
});

test("what ends in a refusal or an error gives its room back", async () => {
  expect((await api.get("/v1/jobs?cursor=nonsense")).status).toBe(400);
  expect((await api.get(`/v1/jobs/${crypto.randomUUID()}/steps`)).status).toBe(404);
  takeAll().leave();
});

test("a call that waits for a job has no room meanwhile, and gives back what it had for its answer", async () => {
  const answer = lease("polled", { wait_seconds: 20 });
  await eventually(() => expect(api.deps.longPoll.askedFor()).toContainEqual({ tenant: "default", queue: "polled" }));
  takeAll().leave();
  await submit("polled");
  expect(await leased(await answer)).toHaveLength(1);
});

test("a lease that finds no room in time is refused, and its job goes to the next", async () => {
  await submit("crowded");
  const all = takeAll();
  expect((await lease("crowded")).status).toBe(503);
  all.leave();
  expect(await leased(await lease("crowded"))).toHaveLength(1);
  await submit("crowded");
  expect((await api.send("POST", "/queues/crowded/lease", undefined, { worker_id: "w" })).status).toBe(200);
});

test("a settlement does not wait for room: without any, no next job comes", async () => {
  for (let at = 0; at < 3; at += 1) await submit("ordered", { group: "g" });
  const settle = async (jobs: Awaited<ReturnType<typeof leased>>) => {
    const acks = jobs.map(({ job: { id }, lease_token }) => ({ id, lease_token }));
    const answer = await api.send("POST", "/v1/leases/settle", undefined, { acks, next: { worker_id: "w" } });
    const { acks: done, next = [] } = settleAnswer.parse(await answer.json());
    expect(done).toMatchObject([{ outcome: "succeeded" }]);
    return next;
  };
  const next = await settle(await leased(await lease("ordered")));
  expect(next).toHaveLength(1);
  takeAll().leave();
  const all = takeAll();
  expect(await settle(next)).toEqual([]);
  all.leave();
});
