import { createClient, type Client } from "@atlasqueue/client";
import { createQueue, type Queue } from "@atlasqueue/core";
import type postgres from "postgres";
import { nowNs, type History } from "../../history/open-history.ts";
import { answer_ms_max } from "../answer-time.ts";
import type { LoadConfig } from "../config.ts";
import { openOwn } from "./own.ts";
import { createRecent, type Recent } from "./recent.ts";
import { countedFetch } from "./tries.ts";

/** The way to one API process, as one tenant. */
export type Api = { name: string; client: Client };

/** What a submitter has to do with: the history, the APIs, the library, a database of its own, and the jobs it knows. */
export type World = {
  config: LoadConfig;
  /** Differs from one start of the process to the next, as keys and nonces must. */
  name: string;
  history: History;
  tenants: readonly string[];
  /** Those whose queues and schedules are in this process' care. */
  kept: readonly string[];
  apisOf(tenant: string): readonly Api[];
  /** The library in the caller's own process. */
  queueOf(tenant: string): Queue;
  /** The caller's own connections, which AtlasQueue knows nothing of. */
  own: postgres.Sql;
  recent: Recent;
  /** Aborts when nothing new is to be begun. */
  stopping: AbortSignal;
  /** Aborts when nobody waits any longer for what was begun. */
  over: AbortSignal;
  close(): Promise<void>;
};

const close_seconds_max = 2;

export function openWorld(config: LoadConfig, history: History, stopping: AbortSignal, over: AbortSignal): World {
  const apis = new Map(
    config.tokens.map(({ name: tenant, value: token }) => [
      tenant,
      config.apis.map(({ name, value: url }) => ({
        name,
        client: createClient({ url, token, timeoutMs: answer_ms_max, retries: 2, fetch: countedFetch }),
      })),
    ]),
  );
  const library = { databaseUrl: config.database_url, redisUrl: config.redis_url, timeoutMs: answer_ms_max };
  const tenants = [...apis.keys()];
  const queues = new Map(tenants.map((tenant) => [tenant, createQueue({ ...library, tenant, connectionsMax: 2 })]));
  const own = openOwn(config.database_url);
  return {
    config,
    name: `${config.process}-${nowNs().toString(36)}`,
    history,
    tenants,
    kept: config.keeps === undefined ? tenants : [config.keeps],
    apisOf: (tenant) => apis.get(tenant) ?? [],
    queueOf: (tenant) => queues.get(tenant) as Queue,
    own,
    recent: createRecent(),
    stopping,
    over,
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await own.end({ timeout: close_seconds_max });
      history.close();
    },
  };
}
