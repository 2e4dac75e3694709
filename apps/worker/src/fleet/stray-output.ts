import type { Logger } from "@atlasqueue/core";
import { outputLines } from "@atlasqueue/worker";

/** What is written to stdout outside any job, for example while a module loads: log lines like all others. */
export function strayOutput(logger: Logger): (chunk: string | Uint8Array) => void {
  const lines = outputLines((line) =>
    logger.info({ event: "process_output", pid: process.pid, stream: "stdout", line }, "process_output"),
  );
  return lines.write;
}
