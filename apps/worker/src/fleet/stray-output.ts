import type { Logger } from "@atlasqueue/core";
import { outputLines } from "@atlasqueue/worker";

/** What is written to stdout on behalf of no job, as a module is loaded for one: lines of the log like all others. */
export function strayOutput(logger: Logger): (chunk: string | Uint8Array) => void {
  const lines = outputLines((line) =>
    logger.info({ event: "process_output", pid: process.pid, stream: "stdout", line }, "process_output"),
  );
  return lines.write;
}
