import { DatabaseTimeoutError, type Database } from "@atlasqueue/core";
import { brokenConnection, steppingDatabase, testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { leaseCalls } from "../../test/lease-calls.ts";
import { testApp } from "../../test/test-app.ts";

let own: TestDatabase;
beforeEach(async () => {
  own = await testDatabase();
});
afterEach(() => own.drop());

/** The API with this database, and one leased job. */
async function holding(database: Database) {
  const api = await testApp({ database });
  onTestFinished(() => api.stop());
  const { post, submit, leaseOne } = leaseCalls(() => api);
  const id = await submit("held");
  const { lease_token } = await leaseOne("held");
  return {
    id,
    answer: async (): Promise<unknown> => (await post(`/jobs/${id}/heartbeat`, { lease_token })).json(),
    beat: async () => (await post(`/jobs/${id}/heartbeat`, { lease_token })).status,
  };
}

test("a heartbeat for which there was no room is told so: its holder must not hold on to the job", async () => {
  let is_full = false;
  const database = steppingDatabase(own.database, () => {
    if (is_full) throw new DatabaseTimeoutError(1_500, "busy");
  });
  const { answer, beat } = await holding(database);
  is_full = true;
  expect(await answer()).toMatchObject({ status: 503, type: "/problems/no-room" });
  is_full = false;
  expect(await beat()).toBe(200);
});

test("one whose connection was cut is 503, for its worker to repeat", async () => {
  let cuts = 0;
  const database = steppingDatabase(own.database, () => {
    if (cuts-- > 0) throw brokenConnection();
  });
  const { beat } = await holding(database);
  cuts = 1;
  expect(await beat()).toBe(503);
  expect(await beat()).toBe(200);
});

test("one that waited for its turn behind others that met the outage is told so: its holder holds on as theirs do", async () => {
  let fails: Error | undefined;
  const database = steppingDatabase(own.database, () => {
    if (fails) throw fails;
  });
  const { answer } = await holding(database);
  const busy = new DatabaseTimeoutError(1_500, "busy");
  fails = busy;
  expect(await answer()).toMatchObject({ type: "/problems/no-room" });
  fails = brokenConnection();
  expect(await answer()).toMatchObject({ type: "/problems/unavailable" });
  fails = busy;
  expect(await answer()).toMatchObject({ type: "/problems/unavailable" });
});
