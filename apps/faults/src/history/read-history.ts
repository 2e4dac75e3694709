import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { parseLine, type Line } from "./line.ts";
import { extension } from "./open-history.ts";

const chunk_bytes = 1 << 20;

/**
 * All lines of all processes in the order in which they were written, without holding them: each file is in order, and
 * the oldest line of any comes next. The last line of a file may be half a line, as its process was killed; any other
 * that is none throws.
 *
 * @example
 * for (const line of readHistory(folder)) if (line.move === "fault") console.log(line);
 */
export function* readHistory(folder: string): Generator<Line> {
  const files = readdirSync(folder).filter((name) => name.endsWith(extension));
  const sources = files.map((name) => linesOf(join(folder, name)));
  try {
    const heads = sources.map((source) => source.next().value as Line | undefined);
    for (;;) {
      const first = oldest(heads);
      if (first === undefined) return;
      yield heads[first] as Line;
      heads[first] = sources[first]?.next().value as Line | undefined;
    }
  } finally {
    for (const source of sources) source.return(undefined);
  }
}

function oldest(heads: readonly (Line | undefined)[]): number | undefined {
  let found: number | undefined;
  for (const [at, head] of heads.entries())
    if (head && (found === undefined || head.at_ns < (heads[found]?.at_ns ?? Infinity))) found = at;
  return found;
}

function* linesOf(path: string): Generator<Line, undefined> {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(chunk_bytes);
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      const read = readSync(file, buffer);
      if (read === 0) return undefined;
      const bytes = Buffer.concat([rest, buffer.subarray(0, read)]);
      let from = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
        yield parseLine(bytes.toString("utf8", from, end));
        from = end + 1;
      }
      rest = bytes.subarray(from);
    }
  } finally {
    closeSync(file);
  }
}
