import { isUnavailable } from "@atlasqueue/core";
import type { WorkerDeps } from "../deps.ts";

/** Jobs could not be claimed, or not found. */
export function reportTrouble(deps: WorkerDeps, error: unknown): void {
  if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during: "claim", error: String(error) });
  else deps.logger.error({ err: error }, "claim_failed");
}
