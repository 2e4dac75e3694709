import { Logger, makeWorkerUtils, run, WorkerPreset } from "graphile-worker";
import type { Payload, Variant } from "./variant.ts";

const connections_max = 25;
const producer_connections_max = 10;
const quiet = new Logger(() => () => {});

/** The settings from the performance page of its documentation. Its local queue delays a job that comes alone. */
const settings = {
  concurrentJobs: 24,
  maxPoolSize: connections_max,
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
  logger: quiet,
};
const localQueue = { throughput: { size: 500 }, latency: { size: -1 } };

/** graphile-worker: `addJobs` for many, its local queue and batched completion. Finished jobs are deleted. */
export const graphileWorker: Variant = {
  name: "graphile-worker",
  title: "graphile-worker",
  kind: "peer",
  store: "postgres",
  share: 1,
  async open(servers) {
    const connectionString = servers.postgres;
    const utils = await makeWorkerUtils({ connectionString, maxPoolSize: producer_connections_max, logger: quiet });
    await utils.migrate();
    return {
      add: (payload) => utils.addJob("noop", payload),
      addMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: "noop", payload }))),
      async work(handle, purpose, in_flight = settings.concurrentJobs) {
        const { size } = localQueue[purpose];
        const queue = { size: size < 0 ? size : Math.max(size, in_flight) };
        const worker = { ...settings, concurrentJobs: in_flight, localQueue: queue, connectionString };
        const runner = await run({
          preset: { extends: [WorkerPreset], worker },
          taskList: { noop: async (payload) => handle(payload as Payload) },
          noHandleSignals: true,
        });
        return {
          async settled() {
            const look = "SELECT 1 FROM graphile_worker._private_jobs LIMIT 1";
            const { rows } = await utils.withPgClient((client) => client.query(look));
            return rows.length === 0;
          },
          stop: () => runner.stop(),
        };
      },
      close: async () => utils.release(),
    };
  },
};
