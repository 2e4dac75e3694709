export {
  defineBatchHandler,
  defineHandler,
  handlersOf,
  DoNotRetryError,
  isHandler,
  PayloadError,
  RetryAfterError,
  SpawnError,
  StepError,
  type SignalWait,
  type BatchHandlerOptions,
  type Handler,
  type HandlerFunction,
  type HandlerMiddleware,
  type HandlerOptions,
  type JobContext,
} from "./handler.ts";
export {
  defineJob,
  type SubmitMiddleware,
  type JobDefinition,
  type ParentCounts,
  type ParentResult,
} from "@atlasqueue/contract";
export type { BatchFunction, BatchJob, BatchResults } from "@atlasqueue/runtime";
export type { WorkerDeps } from "./deps.ts";
export { createWorker, type WorkerOptions } from "./create-worker.ts";
export { captureOutput } from "./output/capture-output.ts";
export { outputLines } from "./output/output-lines.ts";
export { startWorker, type Worker, type WorkerConfig } from "./start-worker.ts";
