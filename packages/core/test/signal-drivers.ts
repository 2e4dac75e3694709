import { minimalUser, redisCluster, redisUrl, uniqueKeys, type RedisCluster } from "@atlasqueue/harness";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import type { QueueRef } from "../src/deps.ts";
import { memorySignal } from "../src/signal/memory/signal.ts";
import { redisSignal } from "../src/signal/redis/signal.ts";
import type { ReadyJob, Signal } from "../src/signal/signal.ts";

export const main: QueueRef = { tenant: "default", queue: "default" };
export const never: AbortSignal = new AbortController().signal;
export const job = (id: string, priority = 0, queue = main): ReadyJob => ({ id, priority, ...queue });

let cluster: RedisCluster;
/** As a user who may do only what the operators' page says. */
let cluster_url: string;

async function startCluster(): Promise<void> {
  cluster = await redisCluster();
  const [user] = await Promise.all(cluster.servers.map(({ ask }) => minimalUser(ask)));
  cluster_url = cluster.url.replace(/\/\/.*@/, `//${user}@`);
}

function openRedis(url: string, signals_max: number | undefined): Signal {
  const { jobsKey, dlqKey } = uniqueKeys();
  const keys = { jobs: jobsKey, deadLetters: dlqKey };
  return redisSignal({ url, keys, timeoutMs: 5_000, signalsMax: signals_max });
}

const redis = {
  redis: (signals_max?: number) => openRedis(redisUrl(), signals_max),
  cluster: (signals_max?: number) => openRedis(cluster_url, signals_max),
};
type Start = (signals_max?: number) => Signal;
const all = { ...redis, memory: memorySignal as Start };

/**
 * One suite for every driver: what a worker relies on, whichever it gets. `start` opens a signal that is closed after
 * the test.
 */
export const withEachSignal = (suite: (start: Start) => void): void => withEach(all, suite);

/** The same for those that hand out ids. */
export const withEachRedis = (suite: (start: Start) => void): void => withEach(redis, suite);

function withEach(drivers: Record<string, Start>, suite: (start: Start) => void): void {
  beforeAll(startCluster);
  afterAll(() => cluster.stop());
  describe.each(Object.entries(drivers))("%s", (_name, open) => {
    const start = (signals_max?: number): Signal => {
      const signal = open(signals_max);
      onTestFinished(() => signal.close());
      return signal;
    };
    suite(start);
  });
}
