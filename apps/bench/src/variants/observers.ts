import { createLogger, createMetrics, logEvents, observeAll, type Logger, type Observe } from "@atlasqueue/core";

/** Warnings are logged and everything is counted, as in production. */
export function productionObservers(): { logger: Logger; observe: Observe } {
  const logger = createLogger("warn", "bench");
  return { logger, observe: observeAll(logEvents(logger), createMetrics().observe) };
}
