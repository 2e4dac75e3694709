import type { Logger, Signal } from "@atlasqueue/core";
import type { Deps, FollowUps } from "@atlasqueue/core/internal";

/** What every part of a worker is given. */
export type WorkerDeps = Deps & { signal: Signal; logger: Logger };

/** What the parts that move jobs are given. */
export type MovingDeps = WorkerDeps & { followUps: FollowUps };
