import { randomUUID } from "node:crypto";
import { readApiConfig, startApi } from "@atlasqueue/api";
import { redisUrl, testDatabase, uniqueKeys } from "@atlasqueue/harness";
import * as bullmq from "bullmq";
import * as facade from "../src/index.ts";

type Api = Pick<
  typeof facade,
  "DelayedError" | "FlowProducer" | "Job" | "Queue" | "QueueEvents" | "UnrecoverableError" | "Worker"
>;

/** BullMQ itself or the facade, with a queue of its own for each check. What is opened is closed in the end. */
export type World = {
  api: Api;
  connection: { url: string };
  name: string;
  queue(opts?: Partial<facade.QueueOptions>): facade.Queue;
  /** A worker of the queue. Without a processor it does nothing, at once. */
  work(run?: facade.Processor, opts?: Partial<facade.WorkerOptions>): facade.Worker;
  events(): Promise<facade.QueueEvents>;
  flows(): facade.FlowProducer;
  close(): Promise<void>;
};

function createWorld(api: Api, url: string): World {
  const connection = { url };
  const name = `q-${randomUUID().slice(0, 8)}`;
  const opened: { close(): Promise<unknown> }[] = [];
  const open = <T extends { close(): Promise<unknown> }>(one: T): T => {
    opened.unshift(one);
    return one;
  };
  return {
    api,
    connection,
    name,
    queue: (opts) => open(new api.Queue(name, { connection, ...opts })),
    work: (run = async () => {}, opts = {}) => open(new api.Worker(name, run, { connection, ...opts })),
    async events() {
      const events = open(new api.QueueEvents(name, { connection }));
      await events.waitUntilReady();
      return events;
    },
    flows: () => open(new api.FlowProducer({ connection })),
    async close() {
      for (const one of opened) await one.close();
    },
  };
}

/** The real API, with Redis for the events, and without jitter. */
export async function startFacade() {
  const { url, drop } = await testDatabase();
  const { jobsKey, dlqKey } = uniqueKeys();
  const servers = { DATABASE_URL: url, REDIS_URL: redisUrl(), JOB_QUEUE_KEY: jobsKey, DLQ_KEY: dlqKey };
  const settings = { API_PORT: "0", LOG_LEVEL: "ERROR", RETRY_JITTER_MAX_SECONDS: "0", DATABASE_TIMEOUT_SECONDS: "15" };
  const server = await startApi(readApiConfig({ ...servers, ...settings }));
  return {
    url: server.url,
    world: () => createWorld(facade, server.url),
    async stop() {
      await server.stop();
      await drop();
    },
  };
}

export const bullmqWorld = () => createWorld(bullmq as unknown as Api, redisUrl());
