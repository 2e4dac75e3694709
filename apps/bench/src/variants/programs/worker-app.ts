import { fileURLToPath } from "node:url";
import { readWorkerConfig, startWorkers } from "@atlasqueue/worker-app";
import { asProgram, soon } from "./as-program.ts";
import { onHandled } from "./noop-handler.ts";
import type { DeployedSettings } from "./settings.ts";

const tell_ms = 50;

// Our worker process as it is deployed, and how many jobs its handler has seen.
await asProgram<DeployedSettings>(async (servers, say) => {
  const config = readWorkerConfig({
    DATABASE_URL: servers.postgres,
    REDIS_URL: servers.redis_memory,
    WORKER_HANDLERS: fileURLToPath(new URL("./noop-handler.ts", import.meta.url)),
    WORKER_CONCURRENCY: "100",
    WORKER_METRICS_PORT: "0",
    LOG_LEVEL: "WARNING",
    ...servers.env,
  });
  const workers = await startWorkers(config, {});
  let handled = 0;
  const tell = soon(tell_ms, () => say({ handled }));
  onHandled((count) => {
    handled = count;
    tell();
  });
  return { ready: {}, stop: workers.stop };
});
