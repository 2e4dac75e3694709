import { migrateDatabase } from "@atlasqueue/core";
import type { ServerUrls } from "../variants/variant.ts";
import { startProgram, type Program } from "./start-program.ts";

export type Deployed = { api: Program & { url: string }; worker: Program; stop(): Promise<void> };

/**
 * One API process and one worker process, as they are deployed. `handled` is called with how many jobs the handler has
 * seen.
 */
export async function startDeployed(servers: ServerUrls, handled?: (count: number) => void): Promise<Deployed> {
  await migrateDatabase(servers.postgres);
  const api = await startProgram<{ url: string }>(new URL("./api.ts", import.meta.url), servers);
  try {
    const worker = await startProgram(new URL("./worker-app.ts", import.meta.url), servers, (message) =>
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
