import { migrateDatabase } from "@atlasqueue/core";
import type { ServerUrls } from "../variants/variant.ts";
import type { DeployedSettings } from "./settings.ts";
import { startProgram, type Program } from "./start-program.ts";

export type Deployed = { api: Program & { url: string }; worker: Program; stop(): Promise<void> };

/**
 * One API process and one worker process, as they are deployed, with more variables of their environments if need be.
 * `handled` is called with how many jobs the handlers are done with.
 */
export async function startDeployed(
  servers: ServerUrls,
  handled?: (count: number) => void,
  env: Readonly<Record<string, string>> = {},
): Promise<Deployed> {
  const settings: DeployedSettings = { ...servers, env };
  await migrateDatabase(servers.postgres);
  const api = await startProgram<{ url: string }>(new URL("./api.ts", import.meta.url), settings);
  try {
    const worker = await startProgram(new URL("./worker-app.ts", import.meta.url), settings, (message) =>
      handled?.((message as { handled: number }).handled),
    );
    return {
      api,
      worker,
      async stop() {
        await Promise.all([api.stop(), worker.stop()]);
      },
    };
  } catch (error) {
    await api.stop();
    throw error;
  }
}
