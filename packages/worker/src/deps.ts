import type { Deps, Logger, Signal } from "@atlasqueue/core";

/** What every part of a worker is given. */
export type WorkerDeps = Deps & { signal: Signal; logger: Logger };
