import { currentOutput, keepJobsApart, type OutputStream } from "./job-output.ts";

type Done = (error?: Error | null) => void;

/**
 * From now on what a job's handler writes through `process.stdout`, `process.stderr` and `console` belongs to that job
 * instead of this process, so none of it lands raw between log lines. `stray` gets what was written to stdout outside
 * any handler; without it, that is written as usual, as is anything written to stderr outside a handler. Meant for a
 * program that is nothing but a worker and whose stdout is its log. Call it before the first job begins, and the result,
 * once, to end it.
 *
 * @example
 * const letGo = captureOutput((text) => lines.write(text));
 */
export function captureOutput(stray?: (chunk: string | Uint8Array) => void): () => void {
  const undo = (["stdout", "stderr"] as const).map((stream) =>
    capture(stream, stream === "stdout" ? stray : undefined),
  );
  undo.push(keepJobsApart());
  return () => undo.forEach((one) => one());
}

function capture(stream: OutputStream, stray?: (chunk: string | Uint8Array) => void): () => void {
  const target = process[stream];
  const real = target.write;
  const write = (chunk: string | Uint8Array, second?: BufferEncoding | Done, third?: Done): boolean => {
    const output = currentOutput();
    const encoding = typeof second === "string" ? second : undefined;
    const done = typeof second === "function" ? second : third;
    if (!output && !stray) return real.call(target, chunk, encoding, done);
    const said = typeof chunk === "string" && encoding !== undefined ? Buffer.from(chunk, encoding) : chunk;
    if (output) output.write(stream, said);
    else stray?.(said);
    if (done) process.nextTick(done);
    return true;
  };
  target.write = write;
  return () => {
    if (target.write === write) target.write = real;
  };
}
