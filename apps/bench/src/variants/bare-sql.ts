import { randomUUID } from "node:crypto";
import { migrateDatabase } from "@atlasqueue/core";
import postgres, { type Sql } from "postgres";
import { v7 as uuidv7 } from "uuid";
import type { BenchQueue, Payload, Variant } from "./variant.ts";

const batch_max = 500;
const flushes_max = 2;

/**
 * What the database could do for this design: our tables, and the statements of a submit, a claim and a settle in
 * plain loops. No checks, keys, leases' renewal, retries, Redis, logs or metrics.
 */
export const bareSql: Variant = {
  name: "bare-sql",
  title: "bare SQL",
  kind: "bare",
  store: "postgres",
  share: 1,
  async open(servers) {
    await migrateDatabase(servers.postgres);
    const settings = { max: flushes_max, fetch_types: false, onnotice: () => {} };
    const durable = postgres(servers.postgres, settings);
    // A crash may forget a claim, so it need not wait for the disk.
    const hasty = postgres(servers.postgres, { ...settings, connection: { synchronous_commit: "off" } });
    return openQueue(durable, hasty);
  },
};

function openQueue(durable: Sql, hasty: Sql): BenchQueue {
  const ready: string[] = [];
  let unsettled = 0;
  let woken = Promise.withResolvers<void>();
  const wake = () => {
    woken.resolve();
    woken = Promise.withResolvers();
  };

  const addMany = async (payloads: Payload[]): Promise<void> => {
    const ids = payloads.map(() => uuidv7());
    await durable`
      INSERT INTO jobs (id, type, status, run_at, ready_at, created_at, updated_at, payload)
      SELECT id, 'noop', 'queued', now(), now(), now(), now(), payload
      FROM ROWS FROM (unnest(${uuids(ids)}::uuid[]), json_array_elements(${JSON.stringify(payloads)}::text::json))
        AS input(id, payload)`;
    for (const id of ids) ready.push(id);
    unsettled += ids.length;
    wake();
  };

  const claimAndSettle = async (handle: (payload: Payload) => void): Promise<void> => {
    const ids = ready.splice(0, batch_max);
    const token = randomUUID();
    const jobs = await hasty<{ id: string; payload: Payload }[]>`
      UPDATE jobs SET status = 'running', ready_at = NULL, attempts = attempts + 1, lease_token = ${token}, worker_id = 'bench',
        locked_until = now() + interval '30 seconds', started_at = now(), updated_at = now()
      WHERE id = ANY(${uuids(ids)}::uuid[]) AND status = 'queued' RETURNING id, payload`;
    for (const job of jobs) handle(job.payload);
    const settled = await durable`
      UPDATE jobs SET status = 'succeeded', finished_at = now(), updated_at = now(), locked_until = NULL
      WHERE id = ANY(${uuids(jobs.map(({ id }) => id))}::uuid[]) AND lease_token = ${token} AND status = 'running'`;
    unsettled -= settled.count;
  };

  return {
    add: inBatches(addMany),
    addMany,
    async work(handle) {
      let stopping = false;
      const lane = async () => {
        while (!stopping) {
          if (ready.length > 0) await claimAndSettle(handle);
          else await woken.promise;
        }
      };
      const lanes = [lane(), lane()];
      return {
        settled: async () => unsettled === 0,
        async stop() {
          stopping = true;
          wake();
          await Promise.all(lanes);
        },
      };
    },
    async close() {
      await Promise.all([durable.end({ timeout: 1 }), hasty.end({ timeout: 1 })]);
    },
  };
}

function uuids(ids: readonly string[]): string {
  return `{${ids.join(",")}}`;
}

/** Callers that come while a statement is under way share the next one. */
function inBatches(addMany: (payloads: Payload[]) => Promise<void>): (payload: Payload) => Promise<void> {
  let waiting: { payload: Payload; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let flushes = 0;
  const flush = async () => {
    const batch = waiting.splice(0, batch_max);
    try {
      await addMany(batch.map(({ payload }) => payload));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    flushes -= 1;
    kick();
  };
  const kick = () => {
    if (flushes >= flushes_max || waiting.length === 0) return;
    flushes += 1;
    setImmediate(() => void flush());
  };
  return (payload) =>
    new Promise((resolve, reject) => {
      waiting.push({ payload, resolve, reject });
      kick();
    });
}
