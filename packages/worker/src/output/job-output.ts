import { AsyncLocalStorage } from "node:async_hooks";
import { outputLines, type OutputLines } from "./output-lines.ts";

export type OutputStream = "stdout" | "stderr";
export type JobOutput = { write(stream: OutputStream, chunk: string | Uint8Array): void };

// Not a singleton by choice: what runs on behalf of a job is only known to the runtime's own book-keeping.
const outputs = new AsyncLocalStorage<JobOutput>();

/**
 * Run a job's handler so that what it writes to stdout and stderr, then and later, is told line by line, where
 * `captureOutput` is on. Call `ended` when the handler has ended: what came without a line's end is told then.
 */
export function withOutput<T>(tell: (stream: OutputStream, line: string) => void, run: () => T) {
  const streams = new Map<OutputStream, OutputLines>();
  let over = false;
  const output: JobOutput = {
    write(stream, chunk) {
      const lines = streams.get(stream) ?? outputLines((line) => tell(stream, line));
      streams.set(stream, lines);
      lines.write(chunk);
      if (over) lines.end();
    },
  };
  return {
    value: outputs.run(output, run),
    ended() {
      over = true;
      for (const lines of streams.values()) lines.end();
    },
  };
}

/** The output of the job on whose behalf this is called. */
export function currentOutput(): JobOutput | undefined {
  return outputs.getStore();
}
