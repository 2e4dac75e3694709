import { readApiConfig, startApi } from "@atlasqueue/api";
import type { ServerUrls } from "../variants/variant.ts";
import { asProgram } from "./as-program.ts";

// Our API as it is deployed: its own process, warnings logged.
await asProgram<ServerUrls>(async (servers) => {
  const config = readApiConfig({
    DATABASE_URL: servers.postgres,
    REDIS_URL: servers.redis_memory,
    API_PORT: "0",
    LOG_LEVEL: "WARNING",
  });
  const api = await startApi(config);
  return { ready: { url: api.url }, stop: api.stop };
});
