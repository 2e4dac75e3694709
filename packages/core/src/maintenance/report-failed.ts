import { isUnavailable } from "../database/errors.ts";
import type { LoopDeps } from "./loop-deps.ts";

/** A part of the cleaner failed. False: it is left to the next pass. */
export function reportFailed(deps: LoopDeps, part: string, error: unknown, job_id?: string): false {
  const during = `retention: ${part}`;
  if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
  else deps.logger.error({ err: error, part, job_id }, "retention_failed");
  return false;
}
