import type { Logger } from "pino";
import { pause } from "@atlasqueue/core/internal/program";

/** How long any part of a program may take to end, unless it has a deadline of its own. */
const part_ms_max = 5_000;

/**
 * Wait for one part of a stop, so that none can keep the others from ending, nor the process from exiting: one that has
 * not ended in `ms` is left to itself, and a line in the log names it. Rejects if the part does.
 *
 * @example
 * await endWithin(logger, "the sweep", sweeping);
 */
export async function endWithin(
  logger: Pick<Logger, "error">,
  part: string,
  ending: Promise<unknown>,
  ms = part_ms_max,
): Promise<void> {
  const over = new AbortController();
  try {
    const ended = await Promise.race([ending.then(() => true), pause(ms, over.signal).then(() => false)]);
    if (!ended) logger.error({ event: "shutdown_timeout", part, after_ms: ms }, "shutdown_timeout");
  } finally {
    over.abort();
  }
}
