import { eventually, forFile, redisUrl, tcpProxy, testDatabase, uniqueKeys } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { jobLine, lineClient } from "../../../test/line-client.ts";
import { readApiConfig } from "../../config.ts";
import { startApi } from "../../start-api.ts";

/** An API over a proxied database. */
const database = forFile(testDatabase);
const proxy = forFile(() => tcpProxy(database.url));
const api = forFile(() => {
  const { jobsKey, dlqKey } = uniqueKeys();
  const env = { DATABASE_URL: proxy.url, REDIS_URL: redisUrl(), JOB_QUEUE_KEY: jobsKey, DLQ_KEY: dlqKey };
  return startApi(readApiConfig({ ...env, API_PORT: "0", LOG_LEVEL: "ERROR", SHUTDOWN_SECONDS: "5" }));
});

const lines = (count: number, name: string) => Array.from({ length: count }, (_, at) => jobLine(`${name}-${at}`));

test("a database that goes away ends the stream; the same lines again are each stored once", async () => {
  const all = lines(3_000, "outage");
  const client = (await lineClient(api.port)).read();
  await client.send(all.slice(0, 1_000).join(""));
  await eventually(() => expect(client.answers()).toHaveLength(1_000));
  proxy.refuse();
  await client.send(all.slice(1_000).join(""));
  await client.closed;
  expect(client.last()).toMatchObject({
    end: "failed",
    answered: client.answers().length - 1,
    error: { type: "/problems/unavailable", status: 503 },
  });
  proxy.heal();
  await eventually(async () => {
    const again = (await lineClient(api.port)).read();
    await again.send(all.join(""));
    again.end();
    await again.closed;
    expect(again.last()).toEqual({ end: "complete", answered: 3_000 });
    const ids = client.answers().flatMap(({ id }) => id ?? []);
    expect(again.answers().slice(0, ids.length)).toEqual(
      ids.map((id, at) => ({ line: at + 1, id, status: "queued", outcome: "replayed" })),
    );
  });
  const [row] = await database.database.sql`
    SELECT count(*)::int AS jobs FROM atlasqueue.jobs JOIN atlasqueue.idempotency_keys USING (tenant) WHERE jobs.id = job_id AND key LIKE 'outage-%'`;
  expect(row).toEqual({ jobs: 3_000 });
});
