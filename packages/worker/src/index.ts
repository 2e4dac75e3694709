export {
  defineHandler,
  DoNotRetryError,
  isHandler,
  PayloadError,
  RetryAfterError,
  type Handler,
  type HandlerFunction,
  type HandlerOptions,
  type JobContext,
} from "./handler.ts";
export { startWorker, type Worker, type WorkerConfig, type WorkerDeps } from "./start-worker.ts";
