import { TimeoutError } from "@atlasqueue/client";
import type { Job } from "@atlasqueue/contract";
import type { Context } from "./tool.ts";

/**
 * Waits for a job's end, and returns the job; undefined when it has not ended in time, or the server stops: the caller
 * learns how the job is, and is not cut off.
 *
 * @example
 * const ended = await waitForEnd(context, job_id, 20);
 */
export async function waitForEnd(
  { client, signal, stopping }: Pick<Context, "client" | "signal" | "stopping">,
  id: string,
  seconds: number,
): Promise<Job | undefined> {
  if (stopping?.aborted) return undefined;
  const over = new AbortController();
  const end = () => over.abort();
  // Not `AbortSignal.any`: what stops the server outlives thousands of waits.
  const ends = [signal, stopping];
  for (const one of ends) one?.addEventListener("abort", end, { once: true });
  try {
    signal.throwIfAborted();
    return await client.wait(id, { timeoutMs: seconds * 1_000, signal: over.signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!stopping?.aborted && !(error instanceof TimeoutError)) throw error;
    return undefined;
  } finally {
    for (const one of ends) one?.removeEventListener("abort", end);
  }
}
