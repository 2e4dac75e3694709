import type { Deps } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import type { Logger } from "../observe/log.ts";
import type { Signal } from "../signal/signal.ts";

/** What the loops that run beside the work are given. */
export type LoopDeps = Deps & { signal: Signal; logger: Logger };

/** What the parts of a sweep are given that move jobs. */
export type SweepDeps = LoopDeps & { followUps: FollowUps };
