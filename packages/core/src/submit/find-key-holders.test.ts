import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { openDatabase, openProxy } from "../../test/opened.ts";
import { enqueueAll } from "./enqueue-all.ts";
import type { Submission } from "./outcome.ts";

const { deps, url } = engineHarness();

/** How many bytes the database answers while a batch is submitted. */
async function answeredTo(batch: readonly Submission[]): Promise<number> {
  const proxy = await openProxy(url());
  const database = openDatabase({ url: proxy.url, connectionsMax: 1, timeoutMs: 20_000 });
  let bytes = 0;
  await database.sql`SELECT`;
  proxy.alterAnswers((text) => {
    bytes += text.length;
    return text;
  });
  const outcome = await enqueueAll({ ...deps, database }, batch, { idempotency_ttl_seconds: 60 });
  expect(outcome).toMatchObject({ kind: "stored", outcomes: batch.map(() => ({ job: { status: "queued" } })) });
  return bytes;
}

const jobs = 100;
const job_bytes_max = 1_000;

test.each(["an idempotency key", "a unique key"])(
  "a small batch that meets jobs with large results by %s is not answered with megabytes from the database",
  async (by) => {
    await deps.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.idempotency_keys`;
    const batch = Array.from({ length: jobs }, (_, at) =>
      by === "a unique key" ? submission({ unique: { key: `u${at}` } }) : submission({}, `key-${at}`),
    );
    await enqueueAll(deps, batch, { idempotency_ttl_seconds: 60 });
    await deps.database.sql`
      UPDATE atlasqueue.jobs SET result = to_json(repeat('x', 100000)), progress = to_json(repeat('x', 10000)), last_error = repeat('x', 4096)`;
    expect(await answeredTo(batch)).toBeLessThan(jobs * job_bytes_max);
  },
);
