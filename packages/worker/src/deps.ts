import type { LoopDeps, SweepDeps } from "@atlasqueue/core/internal/worker";

/** What every part of a worker is given. */
export type WorkerDeps = LoopDeps;

/** What the parts that move jobs are given. */
export type MovingDeps = SweepDeps;
