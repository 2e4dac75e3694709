import { queueLimits } from "@atlasqueue/contract";
import { ownServers, submission, type Servers } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addFlow } from "../test/add-flow.ts";
import { advanceAndAdmit } from "../test/advance.ts";
import { countDrift } from "./counts/drift.ts";
import { foldCounts } from "./counts/fold.ts";
import { connectDatabase, type Database } from "./database/connect.ts";
import { migrateDatabase } from "./database/migrate.ts";
import type { Deps } from "./deps.ts";
import { findJob } from "./jobs/find.ts";
import { claim } from "./lease/claim.ts";
import { forgetPastStarts } from "./limits/note-starts.ts";
import { setLimits } from "./limits/set.ts";
import { createQueue } from "./queue.ts";
import { complete } from "./settle/complete.ts";
import { enqueue } from "./submit/enqueue.ts";

// A publication of all tables, as before a switch to another server, or where something listens to the changes.

const tenant = "default";
let servers: Servers;
let database: Database;
let deps: Deps;
beforeAll(async () => {
  servers = await ownServers();
  database = connectDatabase({ url: servers.postgres.url, connectionsMax: 5, timeoutMs: 15_000 });
  await database.sql`ALTER SYSTEM SET wal_level = 'logical'`;
  await database.close();
  await servers.postgres.stop();
  await servers.postgres.restart();
  await migrateDatabase(servers.postgres.url);
  database = connectDatabase({ url: servers.postgres.url, connectionsMax: 5, timeoutMs: 15_000 });
  deps = { database, observe: () => {} };
  await database.sql`CREATE PUBLICATION everything FOR ALL TABLES`;
});
afterAll(async () => {
  await database.close();
  await servers.stop();
});

const submit = async (count: number, request: Parameters<typeof submission>[0]) => {
  const submissions = Array.from({ length: count }, () => submission(request));
  const outcomes = await enqueue(deps, submissions, { idempotency_ttl_seconds: 60 });
  return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
};
const run = async (id: string | undefined, queue = "default") => {
  const leases = await claim(deps, [id ?? ""], { tenant, queues: [queue], worker_id: "w", lease_seconds: 30 });
  expect(leases).toHaveLength(1);
  await complete(
    deps,
    leases.map((lease) => ({ lease, result: null })),
  );
};
const status = async (id: string | undefined) => (await findJob(deps, tenant, id ?? ""))?.status;

test("groups go on while a publication has all tables", async () => {
  const [first, second] = await submit(2, { group: "g" });
  await run(first);
  expect(await status(second)).toBe("queued");
});

test("flows go on while a publication has all tables", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await run(a);
  await advanceAndAdmit(deps);
  expect(await status(b)).toBe("queued");
});

test("rates go on while a publication has all tables", async () => {
  const queue = "rated";
  await setLimits(deps, { tenant, queue }, queueLimits.parse({ rate: { limit: 2, period_seconds: 3_600 } }));
  // Starts of the same hundredth share a row.
  for (const id of await submit(2, { queue })) await run(id, queue);
  await database.sql`UPDATE atlasqueue.queue_starts SET started_at = started_at - interval '2 hours'`;
  expect(await forgetPastStarts(deps, 10)).toBeGreaterThan(0);
  for (const id of await submit(2, { queue })) await run(id, queue);
});

test("counts go on while a publication has all tables", async () => {
  await submit(2, { queue: "counted" });
  expect(await foldCounts(deps, 1_000)).toBeGreaterThan(0);
  expect(await database.sql`SELECT FROM atlasqueue.queue_changes`).toEqual([]);
  expect((await countDrift(deps, 1_000)).drifted).toEqual([]);
});

test("jobs of callers' transactions are admitted and counted while a publication has all tables", async () => {
  const queue = createQueue({ databaseUrl: servers.postgres.url });
  try {
    await database.sql.begin((tx) => queue.submitIn(tx, { type: "plain" }));
    await database.sql.begin((tx) => queue.submitIn(tx, { type: "grouped", group: "inside" }));
  } finally {
    await queue.close();
  }
  await advanceAndAdmit(deps);
  expect(await database.sql`SELECT FROM atlasqueue.outbox`).toEqual([]);
});
