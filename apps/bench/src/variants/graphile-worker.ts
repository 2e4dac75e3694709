import { Logger, makeWorkerUtils, run, WorkerPreset } from "graphile-worker";
import type { Payload, Variant } from "./variant.ts";

const connections_max = 25;
const quiet = new Logger(() => () => {});

/** The settings of the performance page of its documentation. */
const speed = {
  concurrentJobs: 24,
  maxPoolSize: connections_max,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

/** graphile-worker: `addJobs` for many, its local queue and batched completion. Finished jobs are deleted. */
export const graphileWorker: Variant = {
  name: "graphile-worker",
  title: "graphile-worker",
  kind: "peer",
  store: "postgres",
  share: 1,
  async open(servers) {
    const connectionString = servers.postgres;
    const utils = await makeWorkerUtils({ connectionString, maxPoolSize: connections_max, logger: quiet });
    await utils.migrate();
    return {
      add: (payload) => utils.addJob("noop", payload),
      addMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: "noop", payload }))),
      async work(handle) {
        const runner = await run({
          preset: { extends: [WorkerPreset], worker: { ...speed, connectionString, logger: quiet } },
          taskList: { noop: async (payload) => handle(payload as Payload) },
          noHandleSignals: true,
        } as Parameters<typeof run>[0]);
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
