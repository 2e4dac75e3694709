import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { Trouble } from "../exit.ts";

export type Input = {
  /** Throws `Trouble` when it can be read no further. */
  chunks: AsyncIterable<Buffer>;
  /** How large it is, if that is known. */
  bytes_total: number | undefined;
  /** No more of it is wanted: what waits for more does not keep the process. */
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
  const handle = await open(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const stats = await handle.stat();
  return inputOf(handle.createReadStream(), path, stats.isFile() ? stats.size : undefined);
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
