import type { Logger, Signal } from "@atlasqueue/core";
import type { Deps, FollowUps } from "@atlasqueue/core/internal";

/** What every part of a worker is given. */
export type WorkerDeps = Deps & { signal: Signal; logger: Logger };

/** What the parts are given that move jobs. */
export type MovingDeps = WorkerDeps & { followUps: FollowUps };
