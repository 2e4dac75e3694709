import { isUtf16 } from "@atlasqueue/contract";

export type Line = {
  /** From 1. */
  number: number;
  /** Where the line ends, in bytes from the start: how far the reader has come. */
  end_offset: number;
} & ({ text: string } | { fault: string });

const newline = 10;

/**
 * The lines of a stream, holding one line at a time in memory: of a line longer than `bytes_max` only the fault is
 * kept. A byte order mark and carriage returns are dropped.
 *
 * @example
 * for await (const line of readLines(process.stdin, 1_048_576)) …
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, bytes_max: number): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let offset = 0;
  let number = 0;
  const take = (part: Buffer) => {
    bytes += part.length;
    offset += part.length;
    if (bytes <= bytes_max) parts.push(part);
    else parts = [];
  };
  const finish = (): Line => {
    number += 1;
    const place = { number, end_offset: offset };
    const whole = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    const line = bytes > bytes_max ? { ...place, fault: `longer than ${bytes_max} bytes` } : decode(place, whole);
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, end));
      offset += 1;
      start = end + 1;
      yield finish();
    }
    if (start < chunk.length) take(chunk.subarray(start));
  }
  if (bytes > 0) yield finish();
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function decode(place: { number: number; end_offset: number }, bytes: Buffer): Line {
  if (isUtf16(bytes)) return { ...place, fault: "UTF-16, not UTF-8: save the file as UTF-8" };
  try {
    return { ...place, text: decoder.decode(bytes).replace(/\r$/, "") };
  } catch {
    return { ...place, fault: "not valid UTF-8" };
  }
}
