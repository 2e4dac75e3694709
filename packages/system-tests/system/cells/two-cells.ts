import { connectDatabase, createQueue, migrateDatabase, redisSignal } from "@atlasqueue/core";
import { countDrift, type Cell } from "@atlasqueue/core/internal/tools";
import { createDatabase, postgresUrl, redisUrl, uniqueKeys } from "@atlasqueue/harness";
import { createWorker, type Handler, type WorkerConfig } from "@atlasqueue/worker";
import { createLogger } from "@atlasqueue/core";
import { expect, onTestFinished } from "vitest";
import { movedTables } from "../../../core/src/cells/tables.ts";

export const tenant = "acme";

/** Two schemas of one server with names in Redis of their own, `home` and `east`; with `urls`, on these servers. */
export async function twoCells(urls?: readonly [string, string]) {
  const created = urls ? undefined : await createDatabase(postgresUrl());
  const make = async (name: string, url: string) => {
    await migrateDatabase(url, { schema: name });
    const { jobsKey: jobs, dlqKey: deadLetters } = uniqueKeys();
    const keys = { jobs, deadLetters };
    const database = connectDatabase({ url, schema: name, connectionsMax: 6, timeoutMs: 60_000 });
    const signal = redisSignal({ url: redisUrl(), keys });
    onTestFinished(async () => void (await Promise.all([database.close(), signal.close()])));
    const common = { databaseUrl: url, schema: name, redisUrl: redisUrl(), keys };
    return { name, database, signal, common };
  };
  const url = created?.url ?? "";
  const cells = [await make("home", urls?.[0] ?? url), await make("east", urls?.[1] ?? url)] as const;
  if (created) onTestFinished(() => created.drop());
  return cells;
}
export type TestCell = Awaited<ReturnType<typeof twoCells>>[number];

export function queueOf({ common }: TestCell, of_tenant = tenant) {
  const queue = createQueue({ ...common, tenant: of_tenant });
  onTestFinished(() => queue.close());
  return queue;
}

export function workOn({ common }: TestCell, handlers: readonly Handler[], config: Partial<WorkerConfig> = {}) {
  const logger = createLogger("silent", "test");
  const backoff = { baseSeconds: 3_600, maxSeconds: 3_600, jitterMaxSeconds: 0 };
  const worker = createWorker({
    ...common,
    handlers,
    tenants: [tenant],
    logger,
    backoff,
    pollTimeoutSeconds: 1,
    ...config,
  });
  const stop = () => worker.stop({ deadlineMs: 0 });
  onTestFinished(stop);
  return { stop };
}

/** All that a tenant has in a cell, as text; without the rows that stand for a queue that nobody decided about. */
export async function rowsOf({ database }: Cell, of_tenant = tenant): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {};
  for (const { name, columns } of movedTables) {
    const decided = name === "queues" ? "AND num_nonnulls(paused_at, concurrency, rate_limit, defaults) > 0" : "";

    const text = `SELECT row(${columns})::text AS text FROM atlasqueue.${name} WHERE tenant = $1 ${decided} ORDER BY 1`;
    const found = await database.sql.unsafe<{ text: string }[]>(database.schema.fill(text), [of_tenant]);
    if (found.length > 0) rows[name] = found.map((row) => row.text);
  }
  return rows;
}

export async function expectTrueCounts(...cells: readonly Cell[]): Promise<void> {
  for (const cell of cells) expect((await countDrift(cell, 1_000_000)).drifted).toEqual([]);
}
