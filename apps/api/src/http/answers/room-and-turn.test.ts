import { leaseAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { submit } from "@atlasqueue/core/internal";
import { eventually, submission } from "@atlasqueue/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { testApp } from "../../../test/test-app.ts";
import { createAnswerRoom } from "./room.ts";

const room_max = 1_000;
const answers = createAnswerRoom({ room_max });
let api: Awaited<ReturnType<typeof testApp>>;
beforeAll(async () => {
  api = await testApp({ signal: memorySignal(), answers });
});
afterAll(() => api.stop());

let taken = 0;
afterEach(() => {
  for (; taken > 0; taken -= 1) api.deps.database.turns.leave({ tenant: "default" });
});
/** As many slow statements as the tenant may have at once. */
const fillTurns = () => {
  while (api.deps.database.turns.enter({ tenant: "default" })) taken += 1;
};
const othersRoom = async () => {
  const place = answers.place("another", room_max);
  await place.enter();
  place.leave();
};

test("a lease with room does not wait behind its tenant's slow statements, so that others have room", async () => {
  await submit(api.deps, [submission({ queue: "q" })], { idempotency_ttl_seconds: 60 });
  fillTurns();
  const leased = api.send("POST", "/v1/queues/q/lease", undefined, { worker_id: "w", max_jobs: 100 });
  expect(leaseAnswer.parse(await (await leased).json()).jobs).toHaveLength(1);
  await othersRoom();
});

test.each(["/v1/jobs?limit=100", "/v1/schedules", "/jobs"])(
  "GET %s with room does not wait behind its tenant's slow statements",
  async (path) => {
    fillTurns();
    expect((await api.get(path)).status).toBe(200);
    await othersRoom();
  },
);

test("nor does one job that is read", async () => {
  const [outcome] = await submit(api.deps, [submission({ queue: "read" })], { idempotency_ttl_seconds: 60 });
  const id = outcome && "job" in outcome ? outcome.job.id : "";
  fillTurns();
  expect((await api.get(`/v1/jobs/${id}`)).status).toBe(200);
});

test("what needs no room waits behind them", async () => {
  fillTurns();
  const looked = api.get("/v1/queues");
  await eventually(() => expect(api.deps.database.turns.waiting()).toBe(1));
  for (; taken > 0; taken -= 1) api.deps.database.turns.leave({ tenant: "default" });
  expect((await looked).status).toBe(200);
});
