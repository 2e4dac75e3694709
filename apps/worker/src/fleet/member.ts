import { SettingError } from "@atlasqueue/core";
import { runMember, type MemberParts, type RunningMember } from "@atlasqueue/program";
import { captureOutput } from "@atlasqueue/worker";
import { readWorkerConfig } from "../config.ts";
import { startReporting } from "../reporting.ts";
import { startWorkerApp } from "../start-worker-app.ts";
import { strayOutput } from "./stray-output.ts";

/** A worker that is one of several processes, or a child of `start`. */
export const runOne = (env: NodeJS.ProcessEnv): Promise<void> => runMember((parts) => start(env, parts));

async function start(env: NodeJS.ProcessEnv, { log, signal }: MemberParts): Promise<RunningMember> {
  const config = readWorkerConfig(env);
  const reporting = await startReporting(config, log);
  captureOutput(strayOutput(reporting.logger));
  const app = await startWorkerApp(config, signal ? { ...reporting, signal } : reporting);
  const refused = app.refused.then(async (reason) => {
    await app.stop();
    throw new SettingError(reason);
  });
  return {
    about: { metrics_url: app.metrics_url, worker_id: app.id },
    hang_ms: config.hang_ms,
    stop: app.stop,
    orphaned: app.closePort,
    finished: Promise.race([refused, ...(config.drain ? [app.empty(config.drain)] : [])]),
  };
}
