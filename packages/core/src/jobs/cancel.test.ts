import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Deps } from "../deps.ts";
import { findJob } from "./find.ts";
import { cancel } from "./cancel.ts";
import { claim } from "../lease/claim.ts";
import { enqueue } from "../submit/enqueue.ts";

let own: TestDatabase;
let deps: Deps;
const recorded = recordEvents();
beforeAll(async () => {
  own = await testDatabase();
  deps = { database: own.database, observe: recorded.observe };
});
afterAll(() => own.drop());

const add = async (): Promise<string> => {
  const [outcome] = await enqueue(deps, [submission()], { idempotency_ttl_seconds: 60 });
  return outcome && "job" in outcome ? outcome.job.id : "";
};
const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };

test("a cancel limited to some statuses leaves a job in another unchanged, and reports nothing", async () => {
  const id = await add();
  await claim(deps, [id], claimer);
  const before = await findJob(deps, "default", id);
  recorded.events.length = 0;
  const outcome = await cancel(deps, "default", id, ["queued", "scheduled"]);
  expect(outcome).toEqual({ kind: "not_cancellable", job: before });
  expect(await findJob(deps, "default", id)).toEqual(before);
  expect(recorded.events).toEqual([]);
  expect(await cancel(deps, "default", id)).toMatchObject({ kind: "cancelled" });
});

test("when a claim and a limited cancel collide, one of them gets the job", async () => {
  for (let round = 0; round < 20; round += 1) {
    const id = await add();
    const [outcome, leases] = await Promise.all([cancel(deps, "default", id, ["queued"]), claim(deps, [id], claimer)]);
    expect([outcome.kind, leases.length]).toEqual(
      outcome.kind === "cancelled" ? ["cancelled", 0] : ["not_cancellable", 1],
    );
  }
});

test("another tenant's job is unknown", async () => {
  expect(await cancel(deps, "acme", await add())).toEqual({ kind: "unknown" });
});
