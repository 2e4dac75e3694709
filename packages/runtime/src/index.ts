export {
  batched,
  requireBatchRoom,
  type BatchFunction,
  type BatchJob,
  type BatchOptions,
  type BatchResults,
} from "./attempt/batch.ts";
export { failed, succeeded, unknownType, type Ending } from "./attempt/outcome.ts";
export { runAttempt } from "./attempt/run-attempt.ts";
export { sourcesOf, type Sources } from "./attempt/sources.ts";
export { traceSettled } from "./attempt/traces.ts";
export { newRun, nextOf, type Run } from "./run/group-run.ts";
export { createHeldJobs, heldJob, type Held } from "./run/held-jobs.ts";
export { abort, lazyAbort, signalOf, type LazyAbort } from "./run/lazy-abort.ts";
export { keepLeases, type Extender } from "./run/lease-keeper.ts";
export { createRunLoop, newStages, type Attempts, type JobSource, type Outcome, type Stages } from "./run/run-loop.ts";
export { createBatcher } from "./waiting/batcher.ts";
export { createSettler } from "./settle/settler.ts";
export { pause, until } from "./waiting/pause.ts";
export { createSemaphore } from "./waiting/semaphore.ts";
export { createTrigger } from "./waiting/trigger.ts";
