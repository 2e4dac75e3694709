import { tenant } from "../../test/engine-harness.ts";
import { stepsHarness } from "../../test/steps-harness.ts";
import { expect, test } from "vitest";
import { isLocked } from "../database/errors.ts";
import { findJobSteps } from "./find.ts";
import { park } from "./park.ts";
import { sendSignal } from "./signal.ts";
import { storeStep } from "./store.ts";

const { deps, besideStranger, started, read, signal, counts } = stepsHarness();

test("a signal is never lost between the look of a job for it and its parking", async () => {
  for (let round = 0; round < 40; round += 1) {
    const lease = await started();
    const [parked, sent] = await Promise.all([park(deps, lease, "go", 3_600), signal(lease.id, "go", round)]);
    expect(sent).toMatchObject({ kind: "sent" });
    const job = await read(lease.id);
    if (parked.kind === "parked") expect(job).toMatchObject({ status: "queued", attempts: 0 });
    else expect(parked).toEqual({ kind: "signalled", payload: round });
  }
  await counts();
});

test("another transaction's lock on the job refuses them after a moment, and is passed by none", async () => {
  const lease = await started();
  await besideStranger([lease.id], async () => {
    for (const move of [
      () => storeStep(deps, lease, "a", 1),
      () => park(deps, lease, "go", 60),
      () => sendSignal(deps, tenant, lease.id, "go", 1),
    ])
      expect(await move().catch(isLocked)).toBe(true);
  });
  expect(await findJobSteps(deps, tenant, lease.id)).toEqual({ steps: [], signals: [], waits: [] });
  expect(await storeStep(deps, lease, "a", 1)).toMatchObject({ kind: "stored" });
});
