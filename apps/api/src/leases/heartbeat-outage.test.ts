import { randomUUID } from "node:crypto";
import { outage_hold_ms } from "@atlasqueue/contract";
import { connectDatabase, DatabaseTimeoutError, type Database } from "@atlasqueue/core";
import { brokenConnection, eventually, steppingDatabase, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { leaseCalls } from "../../test/lease-calls.ts";
import { testApp } from "../../test/test-app.ts";
import { requireTokens } from "../access/authenticate.ts";
import { createHeartbeatOutage } from "./heartbeat-outage.ts";

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
    isMarked: () => api.deps.signal.isMarked("outage"),
  };
}

test("a heartbeat that the database does not answer tells the fleet to end no leases for now", async () => {
  let away = false;
  const database = steppingDatabase(own.database, () => {
    if (away) throw brokenConnection();
  });
  const { beat, isMarked } = await holding(database);
  expect(await beat()).toBe(200);
  expect(await isMarked()).toBe(false);
  away = true;
  expect(await beat()).toBe(503);
  away = false;
  await eventually(async () => expect(await isMarked()).toBe(true));
});

test.each([
  [1_500, 10_000],
  [5_000, 13_500],
])(
  "with a deadline of %d ms the fleet is told for %d, as long as any holder that is told so holds on",
  async (timeout_ms, marked_ms) => {
    const api = await testApp();
    onTestFinished(() => api.stop());
    const mark = vi.spyOn(api.deps.signal, "mark");
    const asHeartbeat = createHeartbeatOutage({ ...api.deps, database: { ...own.database, timeout_ms } });
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    asHeartbeat(brokenConnection());
    expect(mark.mock.calls).toEqual([["outage", marked_ms]]);
    // The last that can have waited behind it.
    const busy = new DatabaseTimeoutError(timeout_ms, "busy");
    vi.advanceTimersByTime(marked_ms - outage_hold_ms - 1);
    expect(asHeartbeat(busy)).toMatchObject({ kind: "unavailable" });
    vi.advanceTimersByTime(1);
    expect(asHeartbeat(busy)).toBe(busy);
  },
);

test("so does one whose token cannot be looked up", async () => {
  let away = false;
  const database = steppingDatabase(own.database, () => {
    if (away) throw brokenConnection();
  });
  const api = await testApp((core) => ({ ...core, database, authenticator: requireTokens({ ...core, database }) }));
  onTestFinished(() => api.stop());
  away = true;
  const path = `/v1/jobs/${randomUUID()}/heartbeat`;
  expect((await api.send("POST", path, `aq_${"a".repeat(43)}`, { lease_token: randomUUID() })).status).toBe(503);
  await eventually(async () => expect(await api.deps.signal.isMarked("outage")).toBe(true));
});

test("one whose row somebody has locked does not: the database is there", async () => {
  const database = connectDatabase({ url: own.url, connectionsMax: 4, timeoutMs: 500 });
  onTestFinished(() => database.close());
  const { id, beat, isMarked } = await holding(database);
  await own.database.sql.begin(async (sql) => {
    await sql`SELECT FROM atlasqueue.jobs WHERE id = ${id} FOR UPDATE`;
    expect(await beat()).toBe(503);
  });
  expect(await isMarked()).toBe(false);
});

test("one for which there was no room does not either, and is told so: its holder must not hold on to the job", async () => {
  let is_full = false;
  const database = steppingDatabase(own.database, () => {
    if (is_full) throw new DatabaseTimeoutError(1_500, "busy");
  });
  const { answer, beat, isMarked } = await holding(database);
  is_full = true;
  expect(await answer()).toMatchObject({ status: 503, type: "/problems/no-room" });
  expect(await isMarked()).toBe(false);
  is_full = false;
  expect(await beat()).toBe(200);
});

test("one whose connection was cut does not, if the database answers the next", async () => {
  let cuts = 0;
  const database = steppingDatabase(own.database, () => {
    if (cuts-- > 0) throw brokenConnection();
  });
  const { beat, isMarked } = await holding(database);
  cuts = 1;
  expect(await beat()).toBe(200);
  expect(await isMarked()).toBe(false);
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
