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
