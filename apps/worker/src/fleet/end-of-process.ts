import { connectDatabase, isUnavailable, type Logger } from "@atlasqueue/core";
import { pause } from "@atlasqueue/core/internal";
import { endLeases } from "@atlasqueue/core/internal/worker";
import { endWithin } from "@atlasqueue/program";
import type { WorkerAppConfig } from "../config.ts";

/** A claim of the process may still be on its way to the database when it ends. */
const looks_max = 5;
const look_ms = 1_000;

/** What ended this process has seen: nothing else ends a lease before its time. */
export type EndOfProcess = {
  /** The process in which this worker ran has ended. */
  ended(worker_id: string): void;
  close(): Promise<void>;
};

/**
 * Ends the leases of workers whose process, a child of this one, has ended, so that their jobs need not wait. If the
 * database is down for all looks, the leases end on their own.
 *
 * @example
 * const endOfProcess = createEndOfProcess(config.database, logger);
 */
export function createEndOfProcess(database_config: WorkerAppConfig["database"], logger: Logger): EndOfProcess {
  const database = connectDatabase({
    ...database_config,
    connectionsMax: 1,
    applicationName: "atlasqueue-worker-parent",
  });
  const closing = new AbortController();
  const looking = new Set<Promise<void>>();

  const look = async (worker_id: string): Promise<void> => {
    for (let looks = 0; looks < looks_max; looks += 1) {
      try {
        const { ended } = await endLeases({ database }, worker_id);
        if (ended > 0) logger.warn({ event: "leases_ended", worker_id, leases: ended }, "leases_ended");
      } catch (error) {
        if (!isUnavailable(error)) return logger.error({ err: error, worker_id }, "leases_not_ended");
      }
      if (closing.signal.aborted) return;
      await pause(look_ms, closing.signal);
    }
  };

  return {
    ended(worker_id) {
      const one = look(worker_id).finally(() => looking.delete(one));
      looking.add(one);
    },
    async close() {
      closing.abort();
      await endWithin(logger, "the leases of processes that ended", Promise.all(looking));
      await database.close();
    },
  };
}
