export { failed, succeeded, unknownType, type Ending } from "./attempt/outcome.ts";
export { runAttempt } from "./attempt/run-attempt.ts";
export { sourcesOf, type Sources } from "./attempt/sources.ts";
export { beginAttempt, endAttempt, traceReceived, traceSettled } from "./attempt/traces.ts";
export { createSettler } from "./settle/settler.ts";
export { pause } from "./waiting/pause.ts";
export { createSemaphore } from "./waiting/semaphore.ts";
export { createTrigger } from "./waiting/trigger.ts";
