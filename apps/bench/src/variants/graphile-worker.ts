import { Logger, makeWorkerUtils, run, runMigrations, WorkerPreset } from "graphile-worker";
import { Pool } from "pg";
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
    const pgPool = new Pool({ connectionString: servers.postgres, max: connections_max });
    pgPool.on("error", () => {});
    await runMigrations({ pgPool, logger: quiet });
    const utils = await makeWorkerUtils({ pgPool, logger: quiet });
    return {
      add: (payload) => utils.addJob("noop", payload),
      addMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: "noop", payload }))),
      async work(handle) {
        const runner = await run({
          preset: { extends: [WorkerPreset], worker: { ...speed, connectionString: servers.postgres, logger: quiet } },
          taskList: { noop: async (payload) => handle(payload as Payload) },
          noHandleSignals: true,
        } as Parameters<typeof run>[0]);
        return {
          async settled() {
            const { rowCount } = await pgPool.query("SELECT 1 FROM graphile_worker._private_jobs LIMIT 1");
            return rowCount === 0;
          },
          stop: () => runner.stop(),
        };
      },
      async close() {
        await utils.release();
        await pgPool.end();
      },
    };
  },
};
