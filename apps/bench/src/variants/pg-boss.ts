import { PgBoss } from "pg-boss";
import { reportError } from "./report-error.ts";
import type { Payload, Variant } from "./variant.ts";

const queue_name = "bench";
const connections_max = 10;
const batch_size = 2_000;
/** A second one fetches while the first completes; woken for one job, the two would only get in each other's way. */
const workers = { throughput: 2, latency: 1 };

/**
 * pg-boss with what its documentation recommends for speed: `insert` for many, a worker that is woken by NOTIFY, takes
 * batches and fetches again at once while they come back full.
 */
export const pgBoss: Variant = {
  name: "pg-boss",
  title: "pg-boss",
  kind: "peer",
  store: "postgres",
  share: 1,
  async open(servers) {
    const boss = new PgBoss({
      connectionString: servers.postgres,
      max: connections_max,
      useListenNotify: true,
      schedule: false,
      // The least it accepts: how often it looks for flows that can go on.
      flowIntervalSeconds: 1,
    });
    boss.on("error", reportError);
    await boss.start();
    await boss.createQueue(queue_name, { notify: true });
    return {
      add: (payload) => boss.send(queue_name, payload),
      addMany: (payloads) =>
        boss.insert(
          queue_name,
          payloads.map((data) => ({ data })),
        ),
      addFlow: (parents, child) =>
        boss.flow([
          ...parents.map((data, at) => ({ ref: `p${at}`, name: queue_name, data })),
          { ref: "child", name: queue_name, data: child, dependsOn: parents.map((_, at) => `p${at}`) },
        ]),
      async work(handle, purpose, in_flight) {
        const options = {
          batchSize: in_flight === undefined ? batch_size : Math.ceil(in_flight / workers[purpose]),
          burstWhenBatchFull: true,
          localConcurrency: workers[purpose],
          pollingIntervalSeconds: 0.5,
          // By default 30 s: nothing else tells a worker of a job that has waited for others.
          notifyPollingIntervalSeconds: 0.5,
        };
        await boss.work<Payload>(queue_name, options, async (jobs) => {
          for (const job of jobs) handle(job.data);
        });
        return {
          async settled() {
            const { rows } = await boss
              .getDb()
              .executeSql("SELECT 1 FROM pgboss.job WHERE name = $1 AND state < 'completed' LIMIT 1", [queue_name]);
            return rows.length === 0;
          },
          stop: () => boss.offWork(queue_name, { wait: true }),
        };
      },
      close: () => boss.stop({ graceful: true, timeout: 5_000 }),
    };
  },
};
