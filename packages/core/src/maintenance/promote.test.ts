import { setTimeout as delay } from "node:timers/promises";
import { eventually, steppingDatabase, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness, main } from "../../test/engine-harness.ts";
import { createFollowUps } from "../follow-ups.ts";
import { createPromoter } from "./promote.ts";
import { createSubmitter } from "../submit/submitter.ts";

const { deps } = engineHarness();

test("a job due in a moment is made ready by the process that scheduled it", async () => {
  const followUps = createFollowUps(deps);
  const submitter = createSubmitter({ ...deps, followUps }, { idempotency_ttl_seconds: 60 });
  const outcome = await submitter.submit(submission({ delay_seconds: 0.2 }), 10);
  expect(outcome).toMatchObject({ kind: "created", job: { status: "scheduled" } });
  await eventually(async () =>
    expect((await deps.signal.take([main], 5)).ids).toEqual(["job" in outcome ? outcome.job.id : ""]),
  );
  await submitter.close();
  await followUps.stop();
});

test("jobs that fall due while a look takes long are found by one look after it, not each by one beside it", async () => {
  const let_go = Promise.withResolvers<void>();
  let looks = 0;
  let under_way = 0;
  let beside_one = 0;
  const database = steppingDatabase(deps.database, async (step) => {
    if (step === "answer") under_way -= 1;
    if (step !== "statement") return;
    looks += 1;
    if (under_way > 0) beside_one += 1;
    under_way += 1;
    await let_go.promise;
  });
  const promoter = createPromoter({ ...deps, database });
  for (let at = 0; at < 20; at += 1) promoter.expectIn(at * 20);
  // Timers fire in their order: all of the promoter's before this one.
  await delay(20 * 20 + 20);
  await eventually(() => expect(looks).toBe(1));
  let_go.resolve();
  await eventually(() => expect({ looks, under_way, beside_one }).toEqual({ looks: 2, under_way: 0, beside_one: 0 }));
  promoter.stop();
});
