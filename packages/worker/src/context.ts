import type { Lease, Logger } from "@atlasqueue/core";
import type { JobContext } from "./handler.ts";
import { signalOf, type LazyAbort } from "./lazy-abort.ts";

/**
 * A class for its getters: on the prototype they cost nothing, in a literal a microsecond for each job. What they give
 * is made when it is first used, and most jobs use neither.
 */
export class Context implements JobContext {
  readonly job: JobContext["job"];
  readonly #lazy: LazyAbort;
  readonly #parent: Logger;
  #logger: Logger | undefined;

  constructor({ id, type, queue, attempts, max_attempts, last_error }: Lease, lazy: LazyAbort, logger: Logger) {
    this.job = { id, type, queue, attempt: attempts, max_attempts, last_error };
    this.#lazy = lazy;
    this.#parent = logger;
  }
  get signal(): AbortSignal {
    return signalOf(this.#lazy);
  }
  get logger(): Logger {
    const { id, type, attempt } = this.job;
    return (this.#logger ??= this.#parent.child({ job_id: id, job_type: type, attempt }));
  }
}
