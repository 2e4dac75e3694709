import { createReadStream, fstat, open, type Stats } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { isatty, ReadStream } from "node:tty";
import { promisify } from "node:util";
import { Trouble } from "../exit.ts";

export type Input = {
  /** Throws `Trouble` when it can be read no further, and once it is closed before its end. */
  chunks: AsyncIterable<Buffer>;
  /** How large it is, if that is known. */
  bytes_total: number | undefined;
  /** No more of it is wanted: nothing waits for more, however long its writer is silent. */
  close(): void;
};

/**
 * A file, or stdin as "-". Rejects with `Trouble`.
 *
 * @example
 * const { chunks, close } = await openInput("jobs.ndjson");
 * for await (const line of readLines(chunks, 1_048_576)) …
 */
export async function openInput(path: string): Promise<Input> {
  if (path === "-") return inputOf(process.stdin, "stdin", undefined);
  // Not a `FileHandle`: it closes itself, too, once it is garbage.
  const fd = await promisify(open)(path, "r").catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const stats = await promisify(fstat)(fd);
  return inputOf(streamOf(fd, stats), path, stats.isFile() ? stats.size : undefined);
}

/**
 * `fs` reads in a thread, and nothing ends a read that waits there for a silent writer, not even an exit. So what may be
 * silent is polled.
 */
function streamOf(fd: number, stats: Stats): Readable {
  if (stats.isFIFO()) return new Socket({ fd, readable: true, writable: false });
  if (isatty(fd)) return new ReadStream(fd);
  return createReadStream("", { fd });
}

function inputOf(stream: Readable, name: string, bytes_total: number | undefined): Input {
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      yield* stream;
    } catch (error) {
      throw unreadable(name, error);
    }
  }
  return { chunks: chunks(), bytes_total, close: () => void stream.destroy() };
}

const unreadable = (name: string, error: unknown) =>
  new Trouble(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
