import { isUnavailable } from "@atlasqueue/core";
import { pause } from "@atlasqueue/core/internal";
import { workLeft } from "@atlasqueue/core/internal/worker";
import type { WorkerDeps } from "../deps.ts";
import type { Served } from "./served.ts";

const look_ms = 500;

/** Resolves when the worker has nothing left to do, or at `stop`. While the database is away, it waits. */
export async function untilEmpty(
  deps: WorkerDeps,
  served: Pick<Served, "tenants" | "discover">,
  work: Omit<Parameters<typeof workLeft>[1], "tenant">,
  stop: AbortSignal,
): Promise<void> {
  const anyLeft = async (): Promise<boolean> => {
    await served.discover();
    for (const tenant of served.tenants()) if (await workLeft(deps, { ...work, tenant })) return true;
    return false;
  };
  while (!stop.aborted) {
    try {
      if (!(await anyLeft())) return;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      deps.observe({ event: "database_unavailable", during: "drain", error: String(error) });
    }
    await pause(look_ms, stop);
  }
}
