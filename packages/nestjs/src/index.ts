// Re-exports, so that most applications install and import one package.
export type { Queue, QueueJob } from "@atlasqueue/core";
export { defineJob, DoNotRetryError, RetryAfterError, type JobContext } from "@atlasqueue/worker";
export { Handler } from "./handler.ts";
export { AtlasQueueHealthIndicator } from "./health.ts";
export { AtlasQueueModule } from "./module.ts";
export {
  InjectQueue,
  optionsToken,
  queueToken,
  type AtlasQueueAsyncOptions,
  type AtlasQueueOptions,
} from "./options.ts";
export { AtlasQueueRunner } from "./runner.ts";
