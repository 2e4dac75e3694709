import { isUnavailable, pause, workLeft } from "@atlasqueue/core";
import type { WorkerDeps } from "./deps.ts";

const look_ms = 500;

/** Resolves when the worker has nothing left to do, or at `stop`. A database that is away says nothing. */
export async function untilEmpty(
  deps: WorkerDeps,
  work: Parameters<typeof workLeft>[1],
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    try {
      if (!(await workLeft(deps, work))) return;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      deps.observe({ event: "database_unavailable", during: "drain", error: String(error) });
    }
    await pause(look_ms, stop);
  }
}
