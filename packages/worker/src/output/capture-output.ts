import { currentOutput, type OutputStream } from "./job-output.ts";

type Done = (error?: Error | null) => void;

/**
 * From now on what a job's handler writes through `process.stdout`, `process.stderr` and `console` belongs to that job
 * instead of this process: nothing of it stands raw between the log's lines. `stray` gets what nobody's handler wrote to
 * stdout; without it, that is written as ever, and so is what nobody's handler wrote to stderr. For a program that is a
 * worker and whose stdout is its log; a program of your own has other uses for it. Call what it returns to end it.
 *
 * @example
 * const letGo = captureOutput((text) => lines.write(text));
 */
export function captureOutput(stray?: (chunk: string | Uint8Array) => void): () => void {
  const undo = (["stdout", "stderr"] as const).map((stream) =>
    capture(stream, stream === "stdout" ? stray : undefined),
  );
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
