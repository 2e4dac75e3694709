import { fork, type ChildProcess } from "node:child_process";
import type { Logger } from "@atlasqueue/core";

export type FleetConfig = {
  processes: number;
  /** The program each process runs. */
  file: string;
  /** The whole environment of the process of that number. */
  env: (number: number) => NodeJS.ProcessEnv;
  /** A process that exits with 0 has done all there was to do, and is not started again. */
  ends?: boolean;
  logger: Logger;
};
export type Fleet = {
  /** Resolves with 0 when every process has ended of itself. */
  finished: Promise<number>;
  /** Pass SIGTERM on and wait for every process to drain. Resolves with the worst exit code. */
  stop(): Promise<number>;
};

const restart_ms_min = 250;
const restart_ms_max = 10_000;
/** A process that lived so long starts anew at once when it dies. */
const healthy_ms_min = 30_000;

/**
 * Keeps so many worker processes running: one that dies is started again, after a rest that doubles while it keeps
 * dying. Its jobs are recovered like those of any worker that vanished.
 *
 * @example
 * const fleet = startFleet({ processes: 4, file: "apps/worker/src/main.ts", env: () => ({}), logger });
 */
export function startFleet({ processes, file, env, ends = false, logger }: FleetConfig): Fleet {
  let stopping = false;
  let ended_count = 0;
  const { promise: finished, resolve: finish } = Promise.withResolvers<number>();
  const members = Array.from({ length: processes }, (_, number) => keepRunning(number));

  function keepRunning(number: number): { stop(): Promise<number> } {
    let child: ChildProcess | undefined;
    let rest_ms = restart_ms_min;
    let resting: NodeJS.Timeout | undefined;
    let ended = Promise.resolve(0);

    const start = () => {
      const started = performance.now();
      const one = fork(file, { env: env(number), stdio: ["ignore", "inherit", "inherit", "ipc"] });
      child = one;
      ended = new Promise((resolve) => {
        one.once("exit", (code, signal) => {
          child = undefined;
          // Ended by SIGTERM itself: it was still starting, and held no job.
          resolve(code ?? (signal === "SIGTERM" ? 0 : 1));
          if (stopping) return logger.info({ event: "process_stopped", number, code, signal }, "process_stopped");
          if (ends && code === 0) {
            logger.info({ event: "process_finished", number }, "process_finished");
            if ((ended_count += 1) === processes) finish(0);
            return;
          }
          rest_ms =
            performance.now() - started > healthy_ms_min ? restart_ms_min : Math.min(rest_ms * 2, restart_ms_max);
          logger.error({ event: "process_died", number, code, signal, restart_in_ms: rest_ms }, "process_died");
          resting = setTimeout(start, rest_ms);
        });
        one.once("error", (error) => logger.error({ err: error, number }, "process_failed"));
      });
      logger.info({ event: "process_started", number, pid: one.pid }, "process_started");
    };
    start();
    return {
      stop() {
        clearTimeout(resting);
        child?.kill("SIGTERM");
        return child ? ended : Promise.resolve(0);
      },
    };
  }

  return {
    finished,
    async stop() {
      stopping = true;
      return Math.max(...(await Promise.all(members.map((member) => member.stop()))));
    },
  };
}
