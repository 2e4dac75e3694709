import type { Command } from "@commander-js/extra-typings";
import { stopOnSignals } from "@atlasqueue/core";
import type { Env } from "../config.ts";
import { listenTrouble, orExit } from "../exit.ts";

export function addWorker(program: Command, env: Env): void {
  program
    .command("worker")
    .description("Run a worker alone, on DATABASE_URL and REDIS_URL. WORKER_HANDLERS names your handlers' files.")
    .action(async () => {
      const { readWorkerConfig, startWorkers } = await import("@atlasqueue/worker-app");
      const worker = await orExit(async () => {
        const config = readWorkerConfig(env);
        return startWorkers(config, env).catch((error: unknown) => {
          throw listenTrouble(error, "WORKER_METRICS", config.metrics);
        });
      });
      stopOnSignals(() => worker.stop());
    });
}
