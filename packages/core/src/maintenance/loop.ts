import type { Deps } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import type { Logger } from "../observe/log.ts";
import { type Signal, SignalUnavailableError } from "../signal/signal.ts";
import { isUnavailable } from "../database/errors.ts";

/** What the background loops are given. */
export type LoopDeps = Deps & {
  signal: Signal;
  logger: Logger;
  /** How long writes must have been answered before leases are ended. Default 8,000. */
  recovery_gate_ms?: number;
};

/** What the parts of a sweep that move jobs are given. */
export type SweepDeps = LoopDeps & {
  followUps: FollowUps;
  /** Whether another database has the signal's Redis: then nothing is swept. */
  isRefused?: () => boolean;
};

/** In each period one worker of the fleet does the work of this name; with Redis away, every worker does. */
export async function takeTurn(deps: LoopDeps, name: string, period_ms: number): Promise<boolean> {
  try {
    return await deps.signal.takeTurn(name, period_ms);
  } catch (error) {
    if (error instanceof SignalUnavailableError) return true;
    throw error;
  }
}

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
