import { AsyncLocalStorage } from "node:async_hooks";
import { outputLines, type OutputLines } from "./output-lines.ts";

export type OutputStream = "stdout" | "stderr";
export type JobOutput = {
  /** Run the handler, so that what it writes to stdout and stderr, then and later, belongs to this job. */
  of<T>(handler: () => T): T;
  write(stream: OutputStream, chunk: string | Uint8Array): void;
  /** The handler has ended: report an unfinished line now, and whatever still arrives as it arrives. */
  end(): void;
};

// Not a singleton by choice: only the runtime's own bookkeeping knows what runs on behalf of a job.
const outputs = new AsyncLocalStorage<JobOutput>();
let captures = 0;

/** What one job's handler writes, reported line by line where `captureOutput` is on. */
export function jobOutput(tell: (stream: OutputStream, line: string) => void): JobOutput {
  // Most handlers write nothing.
  let streams: Map<OutputStream, OutputLines> | undefined;
  let over = false;
  const output: JobOutput = {
    // Keeping track of what runs on behalf of a job costs a microsecond, which is wasted where nobody asks for it.
    of: (handler) => (captures > 0 ? outputs.run(output, handler) : handler()),
    write(stream, chunk) {
      streams ??= new Map();
      const lines = streams.get(stream) ?? outputLines((line) => tell(stream, line));
      streams.set(stream, lines);
      lines.write(chunk);
      if (over) lines.end();
    },
    end() {
      over = true;
      if (streams) for (const lines of streams.values()) lines.end();
    },
  };
  return output;
}

/** The output of the job on whose behalf this is called. */
export function currentOutput(): JobOutput | undefined {
  return outputs.getStore();
}

/** Until the result is called, jobs that begin are kept apart, so that `currentOutput` finds them. */
export function keepJobsApart(): () => void {
  captures += 1;
  return () => void (captures -= 1);
}
