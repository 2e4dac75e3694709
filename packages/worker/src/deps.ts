import type { LoopDeps } from "@atlasqueue/core/internal/worker";

/** What every part of a worker is given. */
export type WorkerDeps = LoopDeps;
