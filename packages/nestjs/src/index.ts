export { Handler } from "./handler.ts";
export { AtlasQueueHealthIndicator } from "./health.ts";
export { AtlasQueueModule } from "./module.ts";
export { InjectQueue, queueToken, type AtlasQueueAsyncOptions, type AtlasQueueOptions } from "./options.ts";
export { AtlasQueueRunner } from "./runner.ts";
