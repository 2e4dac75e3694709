import { randomUUID } from "node:crypto";
import { migrateDatabase } from "@atlasqueue/core";
import postgres, { type Sql } from "postgres";
import { v7 as uuidv7 } from "uuid";
import { claim, forget, insert, settle } from "./bare-sql-statements.ts";
import { runAfterMigrate } from "./granted.ts";
import { inBatches } from "./in-batches.ts";
import type { BenchQueue, Payload, Variant } from "./variant.ts";

const batch_max = 500;
const lanes_max = 2;
const forget_ms = 1_000;

/**
 * What the database could do for this design: our tables, and our statements in plain loops without this software. No
 * checks, keys, renewal, retries, sweeps, Redis, logs or metrics.
 */
export const bareSql: Variant = {
  name: "bare-sql",
  title: "bare SQL",
  kind: "bare",
  store: "postgres",
  share: 1,
  async open(servers) {
    await migrateDatabase(servers.postgres);
    await runAfterMigrate(servers);
    return openQueue(postgres(servers.postgres, { max: 2 * lanes_max, fetch_types: false, onnotice: () => {} }));
  },
};

function openQueue(sql: Sql): BenchQueue {
  const ready: string[] = [];
  const spent: string[] = [];
  let unsettled = 0;
  let woken = Promise.withResolvers<void>();
  const wake = () => {
    woken.resolve();
    woken = Promise.withResolvers();
  };
  const execute = (text: string, params: (string | number)[]) => sql.unsafe(text, params, { prepare: true });

  const addMany = async (payloads: Payload[]): Promise<void> => {
    const ids = payloads.map(() => uuidv7());
    const all = (value: string) => array(payloads.map(() => value));
    await execute(insert, [
      array(ids),
      ...["default", "default", "noop", "0", "5", "NULL", "NULL", "NULL"].map(all),
      `[${payloads.map(() => "null").join(",")}]`,
      JSON.stringify(payloads),
    ]);
    for (const id of ids) ready.push(id);
    unsettled += ids.length;
    wake();
  };

  const claimAndSettle = async (handle: (payload: Payload) => void): Promise<void> => {
    const token = randomUUID();
    const wanted = array(ready.splice(0, batch_max));
    const jobs = await execute(claim, [token, "bench", 30, "default", "{default}", wanted]);
    for (const job of jobs) handle(job["payload"] as Payload);
    const ids = jobs.map((job): string => job["id"]);
    const [answer] = await execute(settle, [
      array(ids),
      array(ids.map(() => "1")),
      array([token]),
      `[${ids.map(() => "null").join(",")}]`,
    ]);
    if (answer?.["refused"]) throw new Error("a settlement was refused");
    unsettled -= ids.length;
    spent.push(token);
  };

  return {
    add: inBatches(addMany, { batch_max, flushes_max: lanes_max }),
    async addMany(payloads) {
      const parts: Payload[][] = [];
      for (let at = 0; at < payloads.length; at += batch_max) parts.push(payloads.slice(at, at + batch_max));
      await Promise.all(parts.map(addMany));
    },
    async work(handle) {
      let stopping = false;
      const lane = async () => {
        while (!stopping) {
          if (ready.length > 0) await claimAndSettle(handle);
          else await woken.promise;
        }
      };
      const lanes = Array.from({ length: lanes_max }, lane);
      const forgetting = setInterval(() => {
        if (spent.length > 0) void execute(forget, [array(spent.splice(0))]).execute();
      }, forget_ms);
      return {
        settled: async () => unsettled === 0,
        async stop() {
          stopping = true;
          clearInterval(forgetting);
          wake();
          await Promise.all(lanes);
        },
      };
    },
    close: () => sql.end({ timeout: 1 }),
  };
}

function array(values: readonly string[]): string {
  return `{${values.join(",")}}`;
}
