import {
  connectDatabase,
  logEvents,
  noSignal,
  observeAll,
  type Logger,
  type Observe,
  type Signal,
} from "@atlasqueue/core";
import {
  clearAway,
  createRedisOwner,
  createSweeper,
  pause,
  pauseAll,
  requireOwnRedis,
  requireSignal,
  type redisSignals,
} from "@atlasqueue/core/internal";
import type { Tracing } from "@atlasqueue/contract";
import type { CellConfig } from "@atlasqueue/program";
import type { ApiConfig } from "../config.ts";
import { requireDatabase } from "../health/check-database.ts";
import { createServices } from "../services.ts";

export type CellParts = {
  config: ApiConfig;
  logger: Logger;
  /** For the metrics. */
  count: Observe;
  tracing: Tracing | undefined;
  signalOf: ReturnType<typeof redisSignals>;
  /** The surrounding program's, which is left open. */
  signal?: Signal | undefined;
};

export type OpenCell = ReturnType<typeof openCell>;

const retry_ms = 1_000;

/**
 * A cell as this process serves it: its connections, and what its requests share. Nothing is sent before `require`. Of
 * several cells, each has its name in its log lines.
 *
 * @example
 * const home = openCell(config.cells[0], { config, logger, count, tracing });
 * await home.require();
 */
export function openCell({ name, database: place, redis }: CellConfig, parts: CellParts) {
  const { config, count, tracing } = parts;
  const cell = config.cells.length > 1 ? name : undefined;
  const logger = cell === undefined ? parts.logger : parts.logger.child({ cell });
  const observe = observeAll(logEvents(logger), count);
  const database = connectDatabase({ ...place, applicationName: "atlasqueue-api", observe });
  const signal = parts.signal ?? (redis ? parts.signalOf(redis) : noSignal());
  const owner = createRedisOwner({ database, signal, observe });
  const core = { database, signal, observe, tracing, isRefused: owner.isRefused };
  const services = createServices(core, config);
  let is_usable = false;

  /** Rejects with what a person can fix, or as its servers do. */
  const require = async (): Promise<void> => {
    await Promise.all([requireDatabase(database), requireSignal(signal)]);
    await requireOwnRedis(core);
    if (config.paused_at_start) logger.warn(await pauseAll(database), "paused_at_start");
    is_usable = true;
  };
  return {
    name,
    cell,
    core,
    services,
    require,
    isUsable: () => is_usable,
    /** `require`, again and again until it is usable: the other cells go on meanwhile. */
    async requireInTime(stop: AbortSignal): Promise<void> {
      for (let told = ""; !is_usable && !stop.aborted;) {
        const reason = await require().then(() => "", String);
        if (reason !== told && reason !== "") logger.error({ event: "cell_unavailable", reason }, "cell_unavailable");
        if (told !== "" && reason === "") logger.info({ event: "cell_available" }, "cell_available");
        told = reason;
        if (!is_usable) await pause(retry_ms, stop);
      }
    },
    /** The maintenance, so that remote workers' jobs are recovered, retried and signalled again where none of our workers runs. */
    async keep(stop: AbortSignal): Promise<void> {
      const { followUps } = services;
      await Promise.all([
        createSweeper({ ...core, logger, followUps }, stop).run(),
        // In turns with the workers, and alone where all of those are remote.
        clearAway({ ...core, logger }, config.retention, config.result_ttl_seconds, stop),
        owner.run(stop),
      ]);
    },
    close: async () => void (await Promise.all([database.close(), parts.signal ? undefined : signal.close()])),
  };
}
