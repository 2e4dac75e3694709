export type { TestClock } from "./clock.ts";
export { matchers } from "./matchers/matchers.ts";
export type { TestHandler } from "./run-job.ts";
export type { TestJob } from "./store.ts";
export { createTestQueue, type DrainOptions, type TestQueue, type TestQueueOptions } from "./test-queue.ts";
