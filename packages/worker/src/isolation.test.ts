import { queueLimits } from "@atlasqueue/contract";
import { connectDatabase, createQueue } from "@atlasqueue/core";
import { complete, requirePostgres, setLimits, type Deps } from "@atlasqueue/core/internal";
import { findJob } from "@atlasqueue/core/internal/http";
import { claim } from "@atlasqueue/core/internal/worker";
import { enqueue } from "@atlasqueue/core/internal/tools";
import { forFile, submission, testDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";

// A database whose transactions by default see only what was committed when they began.

const own = forFile(testDatabase);
let deps: Deps;
beforeAll(async () => {
  await own.database.sql.unsafe(`ALTER DATABASE "${own.name}" SET default_transaction_isolation = 'repeatable read'`);
  // For sessions that begin from here on.
  await own.database.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  deps = { database: connectDatabase({ url: own.url, connectionsMax: 8, timeoutMs: 15_000 }), observe: () => {} };
  expect(await deps.database.sql`SHOW default_transaction_isolation`).toEqual([
    { default_transaction_isolation: "repeatable read" },
  ]);
  await requirePostgres(deps.database);
});
afterAll(() => deps.database.close());

test("of simultaneous claims under a limit of 1 at most one gets a job, even if all of them began before it was taken", async () => {
  await setLimits(deps, { tenant: "default", queue: "narrow" }, queueLimits.parse({ concurrency: 1 }));
  const outcomes = await enqueue(
    deps,
    Array.from({ length: 8 }, () => submission({ queue: "narrow" })),
    { idempotency_ttl_seconds: 60 },
  );
  const ids = outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
  const claimer = { tenant: "default", queues: ["narrow"], worker_id: "w", lease_seconds: 30 };
  let taken = 0;
  // The first round opens the connections, and more wait for each other from round to round.
  for (let round = 0; round < 5; round += 1) {
    const claims = await Promise.all(ids.map((id) => claim(deps, [id], claimer)));
    const leases = claims.flat();
    expect(leases.length).toBeLessThanOrEqual(1);
    taken += leases.length;
    await complete(
      deps,
      leases.map((lease) => ({ lease, result: null })),
    );
  }
  expect(taken).toBeGreaterThan(0);
});

test("a caller's transaction with an older snapshot can still submit, and the first job with the key has it", async () => {
  const queue = createQueue({ databaseUrl: own.url });
  const { plain, keyed, grouped, holder } = await deps.database.sql.begin(
    "isolation level repeatable read",
    async (tx) => {
      await tx`SELECT count(*) FROM atlasqueue.jobs`;
      // Something the caller's transaction can no longer see.
      const before = await queue.submit({ type: "noop", idempotency_key: "meanwhile" });
      await queue.submit({ type: "noop", queue: "ordered", group: "g" });
      return {
        holder: before,
        plain: await queue.submitIn(tx, { type: "noop", queue: "other" }),
        keyed: await queue.submitIn(tx, { type: "noop", idempotency_key: "meanwhile" }),
        grouped: await queue.submitIn(tx, { type: "noop", queue: "ordered", group: "g" }),
      };
    },
  );
  await queue.announce(plain, keyed, grouped);
  expect(await findJob(deps, "default", plain.id)).toMatchObject({ status: "queued" });
  expect(await findJob(deps, "default", grouped.id)).toMatchObject({ status: "blocked" });
  expect(await findJob(deps, "default", keyed.id)).toMatchObject({
    status: "cancelled",
    last_error: expect.stringContaining(holder.id),
  });
  await queue.close();
});
