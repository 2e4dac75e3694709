import type { Deps, FollowUps, Logger, Signal } from "@atlasqueue/core";

/** What every part of a worker is given. */
export type WorkerDeps = Deps & { signal: Signal; logger: Logger };

/** What the parts are given that move jobs. */
export type MovingDeps = WorkerDeps & { followUps: FollowUps };
