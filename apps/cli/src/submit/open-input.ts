import { open } from "node:fs/promises";
import { Trouble } from "../exit.ts";

/** A file, or stdin as "-"; how large it is, if that is known. Rejects with `Trouble`. */
export async function openInput(
  path: string,
): Promise<{ chunks: AsyncIterable<Buffer>; bytes_total: number | undefined }> {
  if (path === "-") return { chunks: process.stdin, bytes_total: undefined };
  const handle = await open(path).catch(unreadable(path));
  const stats = await handle.stat();
  return { chunks: handle.createReadStream(), bytes_total: stats.isFile() ? stats.size : undefined };
}

/** For what is thrown while a file is read: what the system says of it as `Trouble`, anything else as it is. */
export function unreadable(path: string) {
  return (error: unknown): never => {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new Trouble(`${path} cannot be read: ${message}`, { cause: error });
  };
}
