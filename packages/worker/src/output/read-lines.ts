import type { Readable } from "node:stream";
import { outputLines } from "./output-lines.ts";

/**
 * Tell the lines of what a process prints, a chunk at a time, each in a turn of its own: a pipe that is always full is read
 * again and again in one turn, so that a process that prints without end would keep all else from its turn.
 */
export function readLines(output: Readable, tell: (line: string) => void): void {
  const lines = outputLines(tell);
  output
    .on("data", (chunk: Uint8Array) => {
      output.pause();
      lines.write(chunk);
      setImmediate(() => output.resume());
    })
    .once("end", lines.end)
    .on("error", () => {});
}
