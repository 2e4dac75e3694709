import type { Deployed, Deployment } from "../ours.ts";
import { asGranted, migrate } from "../granted.ts";
import type { ServerUrls } from "../variant.ts";
import type { DeployedSettings } from "./settings.ts";
import { startProgram } from "./start-program.ts";

const forgetting = {
  RETENTION_SUCCEEDED_HOURS: "0.01",
  RETENTION_DEAD_HOURS: "0.01",
  IDEMPOTENCY_TTL_SECONDS: "60",
  RETRY_BASE_DELAY_SECONDS: "1",
};

/** One API process and one worker process, as they are deployed. */
export async function startDeployed(
  servers: ServerUrls,
  { handled, forgetful = false }: Deployment = {},
): Promise<Deployed> {
  const settings: DeployedSettings = { ...asGranted(servers), ...(forgetful && { env: forgetting }) };
  await migrate(servers);
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
