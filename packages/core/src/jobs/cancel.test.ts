import { expect, test } from "vitest";
import { claimer, engineHarness } from "../../test/engine-harness.ts";
import { cancel } from "./cancel.ts";
import { claim } from "../lease/claim.ts";

const { deps, recorded, add, read } = engineHarness();

test("a cancel limited to some statuses leaves a job in another unchanged, and reports nothing", async () => {
  const [id = ""] = await add({});
  await claim(deps, [id], claimer);
  const before = await read(id);
  recorded.events.length = 0;
  const outcome = await cancel(deps, "default", id, ["queued", "scheduled"]);
  expect(outcome).toEqual({ kind: "not_cancellable", job: before });
  expect(await read(id)).toEqual(before);
  expect(recorded.events).toEqual([]);
  expect(await cancel(deps, "default", id)).toMatchObject({ kind: "cancelled" });
});

test("when a claim and a limited cancel collide, one of them gets the job", async () => {
  for (let round = 0; round < 20; round += 1) {
    const [id = ""] = await add({});
    const [outcome, leases] = await Promise.all([cancel(deps, "default", id, ["queued"]), claim(deps, [id], claimer)]);
    expect([outcome.kind, leases.length]).toEqual(
      outcome.kind === "cancelled" ? ["cancelled", 0] : ["not_cancellable", 1],
    );
  }
});
