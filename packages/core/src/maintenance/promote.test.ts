import { eventually, submission } from "@atlasqueue/testing";
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
    expect(await deps.signal.take([main], 5)).toEqual(["job" in outcome ? outcome.job.id : ""]),
  );
  await submitter.close();
  await followUps.stop();
});

test("what is due later is left to the sweep", () => {
  const promoter = createPromoter(deps);
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  promoter.expectIn(60_000);
  expect(timers()).toBe(before);
  promoter.expectIn(1_000);
  expect(timers()).toBe(before + 1);
  promoter.stop();
});
