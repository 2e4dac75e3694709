import { isUnavailable } from "../database/errors.ts";
import type { LoopDeps } from "./loop-deps.ts";

/** A part of a loop failed, and is left to the next time. False, as it has done nothing. */
export function reportFailed(
  { observe, logger }: Pick<LoopDeps, "observe" | "logger">,
  message: "sweep_failed" | "recovery_beat_failed" | "retention_failed",
  during: string,
  error: unknown,
  fields: { duty?: string; part?: string; job_id?: string | undefined } = {},
): false {
  if (isUnavailable(error)) observe({ event: "database_unavailable", during, error: String(error) });
  else logger.error({ err: error, ...fields }, message);
  return false;
}

/** A part of the cleaner failed, at a job if it says which. */
export const retentionFailed = (deps: LoopDeps, part: string, error: unknown, job_id?: string): false =>
  reportFailed(deps, "retention_failed", `retention: ${part}`, error, { part, job_id });
