import type { Deps } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import type { Logger } from "../observe/log.ts";
import type { Signal } from "../signal/signal.ts";

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
