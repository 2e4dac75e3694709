import type { Command } from "@commander-js/extra-typings";
import { serveUntilStopped } from "@atlasqueue/program/process";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { integer } from "../submit/job-fields.ts";

export function defineWorker(command: Command, env: Env): void {
  command
    .option("--drain", "Exit with 0 when nothing is left to do (WORKER_DRAIN=true)", false)
    .option("-p, --processes <n>", "Child processes (WORKER_PROCESSES)", (text) => integer(text, 1, 256))
    .option("-c, --concurrency <n>", "Handlers at once in each (WORKER_CONCURRENCY)", (text) =>
      integer(text, 1, 10_000),
    )
    .action(async ({ drain, processes, concurrency }) => {
      const set = {
        ...env,
        ...(drain && { WORKER_DRAIN: "true" }),
        ...(processes !== undefined && { WORKER_PROCESSES: String(processes) }),
        ...(concurrency !== undefined && { WORKER_CONCURRENCY: String(concurrency) }),
      };
      const { readWorkerConfig, startWorkers } = await import("@atlasqueue/worker-app");
      await serveUntilStopped(async (stop) => startWorkers(readWorkerConfig(set), set, stop), orExit);
    });
}
