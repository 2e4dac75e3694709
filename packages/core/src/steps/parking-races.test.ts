import { eventually } from "@atlasqueue/testing";
import { tenant } from "../../test/engine-harness.ts";
import { stepsHarness } from "../../test/steps-harness.ts";
import { expect, test } from "vitest";
import type { Deps } from "../deps.ts";
import { findJobSteps } from "./find.ts";
import { park } from "./park.ts";
import { sendSignal } from "./signal.ts";
import { storeStep } from "./store.ts";

const { deps, started, read, signal, counts } = stepsHarness();

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

/** Sends its first statement so that it rests between its look at the job and its lock of the row. */
function restingOnce(): Deps {
  let rests = true;
  const unsafe = (text: string, ...rest: [never[], object]) => {
    const sent = rests
      ? text.replace(
          "version FROM atlasqueue.jobs WHERE",
          "version FROM atlasqueue.jobs WHERE (SELECT pg_sleep(1)) IS NOT NULL AND",
        )
      : text;
    rests = false;
    return deps.database.sql.unsafe(sent, ...rest);
  };
  const sql = new Proxy(deps.database.sql, {
    get: (target, name) => (name === "unsafe" ? unsafe : (Reflect.get(target, name) as unknown)),
  });
  return { ...deps, database: { ...deps.database, sql } };
}
const untilItRests = () =>
  eventually(async () => {
    const resting = await deps.database.sql`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
    return resting.length > 0;
  });

test("a signal that is committed after the look for it, and before the parking, is seen all the same", async () => {
  const lease = await started();
  const parking = park(restingOnce(), lease, "go", 3_600);
  await untilItRests();
  expect(await signal(lease.id, "go", 17)).toMatchObject({ kind: "sent", woken: false });
  expect(await parking).toEqual({ kind: "signalled", payload: 17 });
});

test("a job that is parked after a signal's look at it, and before its lock, is woken all the same", async () => {
  const lease = await started();
  const sending = sendSignal(restingOnce(), tenant, lease.id, "go", 17);
  await untilItRests();
  expect(await park(deps, lease, "go", 3_600)).toMatchObject({ kind: "parked" });
  expect(await sending).toMatchObject({ kind: "sent", woken: true, job: { status: "queued" } });
});

test("another's transaction that has the row locked delays them, and is passed by nothing", async () => {
  const lease = await started();
  const impatient = { ...deps, database: { ...deps.database, timeout_ms: 300 } };
  await deps.database.sql.begin(async (tx) => {
    await tx`SELECT FROM atlasqueue.jobs WHERE id = ${lease.id} FOR UPDATE`;
    for (const move of [
      () => storeStep(impatient, lease, "a", 1),
      () => park(impatient, lease, "go", 60),
      () => sendSignal(impatient, tenant, lease.id, "go", 1),
    ])
      await expect(move()).rejects.toMatchObject({ name: "DatabaseTimeoutError", outcome: "not_applied" });
  });
  expect(await findJobSteps(deps, tenant, lease.id)).toEqual({ steps: [], signals: [], waits: [] });
  expect(await storeStep(deps, lease, "a", 1)).toMatchObject({ kind: "stored" });
});
