import { afterAll, beforeAll, expect, test } from "vitest";
import { engineHarness } from "../../../test/engine-harness.ts";
import { neverEndsAfter } from "../../../test/never-ending.ts";
import { connectDatabase, type Database } from "../../database/connect.ts";
import { DatabaseTimeoutError } from "../../database/errors.ts";
import { createFollowUps } from "../../follow-ups.ts";
import { createQueue, type Queue } from "../../queue.ts";
import { admitAll } from "./admitter.ts";

const { deps, url } = engineHarness();
const jobs = 8;
const fits = 4;

let queue: Queue;
let impatient: Database;
beforeAll(() => {
  queue = createQueue({ databaseUrl: url() });
  impatient = connectDatabase({ url: url(), connectionsMax: 5, timeoutMs: 1_500 });
});
afterAll(() => Promise.all([queue.close(), impatient.close()]));

const arriveOnePerGroup = () =>
  deps.database.sql.begin(async (tx) => {
    for (let at = 0; at < jobs; at += 1) await queue.submitIn(tx, { type: "noop", group: `g-${at}` });
  });

test("of a page that takes too long, none is left as locked because that statement still is under way", async () => {
  const followUps = createFollowUps(deps);
  await arriveOnePerGroup();
  await admitAll({ ...deps, followUps });
  await arriveOnePerGroup();
  await deps.database.sql.unsafe(neverEndsAfter(fits, "DELETE ON atlasqueue.arrivals"));
  try {
    const told = await admitAll({ ...deps, database: impatient, followUps }).catch((error: unknown) => error);
    expect(told).toBeInstanceOf(DatabaseTimeoutError);
    expect(await deps.database.sql`SELECT FROM atlasqueue.arrivals`).toHaveLength(0);
  } finally {
    await deps.database.sql.unsafe(
      "DROP TRIGGER count_and_stop ON atlasqueue.arrivals; DROP FUNCTION count_and_stop()",
    );
    await followUps.stop();
  }
});
