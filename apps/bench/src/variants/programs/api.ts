import { readApiConfig, startApi } from "@atlasqueue/api";
import { asProgram } from "./as-program.ts";
import type { DeployedSettings } from "./settings.ts";

// Our API as it is deployed: its own process, warnings logged.
await asProgram<DeployedSettings>(async (servers) => {
  const config = readApiConfig({
    DATABASE_URL: servers.postgres,
    REDIS_URL: servers.redis_memory,
    API_PORT: "0",
    LOG_LEVEL: "WARNING",
    ...servers.env,
  });
  const api = await startApi(config);
  return { ready: { url: api.url }, stop: api.stop };
});
