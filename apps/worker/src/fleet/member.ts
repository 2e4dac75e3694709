import { SettingError } from "@atlasqueue/core";
import { exitOnTrouble, ipcSignal, parentChannel, troubleLine } from "@atlasqueue/core/internal";
import { captureOutput } from "@atlasqueue/worker";
import { readWorkerConfig } from "../config.ts";
import { beatMs } from "./hang-watch.ts";
import { heldLog } from "./held-log.ts";
import { isToMember, type FromMember } from "./member-messages.ts";
import { startWorkerApp, type WorkerApp } from "../start-worker-app.ts";
import { startReporting } from "../reporting.ts";
import { strayOutput } from "./stray-output.ts";

/**
 * A process of a fleet (fleet.ts): a worker that is started, woken (when signals are in the fleet's memory) and stopped
 * over a channel. A terminal or a service manager may signal the whole group; the parent decides what that means.
 */
export async function runMember(env: NodeJS.ProcessEnv): Promise<void> {
  let stopping: Promise<void> | undefined;
  let app: Promise<WorkerApp | undefined> = Promise.resolve(undefined);
  const stop = () =>
    (stopping ??= (async () => {
      const started = await app.catch(() => undefined);
      await started?.stop();
      process.exit(0);
    })());

  const log = heldLog();
  const fleet = parentChannel({
    hear(message) {
      if (signal.hear(message) || !isToMember(message)) return;
      if (message.fleet === "speak") log.release();
      else void stop();
    },
    // Its parent is gone, and nothing else would stop it.
    closed: () => void stop(),
  });
  const signal = ipcSignal(fleet);
  const say = (message: FromMember) => fleet.send(message);

  process.on("SIGINT", () => {}).on("SIGHUP", () => {});
  process.on("SIGTERM", () => void stop());

  await exitOnTrouble(async () => {
    try {
      const config = readWorkerConfig(env);
      const reporting = await startReporting(config, log);
      captureOutput(strayOutput(reporting.logger));
      app = startWorkerApp(config, config.redis ? reporting : { ...reporting, signal });
      const started = await app;
      if (!started) return;
      say({ member: "started", metrics_url: started.metrics_url });
      if (config.hang_ms !== undefined) setInterval(() => say({ member: "beat" }), beatMs(config.hang_ms));
      if (!config.drain) return;
      await started.empty(config.drain);
      await stop();
    } catch (error) {
      log.drop();
      if (troubleLine(error) === undefined || !(error instanceof Error)) throw error;
      const { code, address, port, syscall } = error as NodeJS.ErrnoException & { address?: string; port?: number };
      say({
        member: "trouble",
        message: error.message,
        setting: error instanceof SettingError,
        code,
        address,
        port,
        syscall,
      });
      await fleet.end();
      process.exit(1);
    }
  });
}
