import {
  createParents,
  checkSpawned,
  createSpawn,
  createSteps,
  limits,
  storableText,
  type Json,
  type LogLine,
  type Parents,
  type SpawnedJobs,
  type Steps,
} from "@atlasqueue/contract";
import type { Logger } from "@atlasqueue/core";
import type { Lease } from "@atlasqueue/core/internal/worker";
import { signalOf, type LazyAbort, type Sources } from "@atlasqueue/runtime";
import type { JobContext } from "../handler.ts";
import type { OutputStream } from "../output/job-output.ts";

/** Where a handler's output goes. Shared by all jobs of a worker. */
export type Sinks = {
  logger: Logger;
  progress(lease: Lease, progress: Json): void;
  /** A line that a handler wrote to its process' own stdout or stderr. */
  output(lease: Lease, stream: OutputStream, line: string): void;
  /** Where its steps are kept, and its parents asked for. */
  sources(lease: Lease, lazy: LazyAbort): Sources;
  /** Instead of keeping the line with the context. */
  log?(line: string): void;
};

/**
 * A class, for its getters: on the prototype they cost nothing, in a literal a microsecond per job. What they return is
 * made on first use, and most jobs use none of it.
 */
export class Context implements JobContext {
  readonly job: JobContext["job"];
  readonly #lease: Lease;
  readonly #lazy: LazyAbort;
  readonly #sinks: Sinks;
  #logger: Logger | undefined;
  #lines: LogLine[] | undefined;
  #steps: Steps | undefined;
  #parents: Parents | undefined;
  #spawn: ReturnType<typeof createSpawn> | undefined;

  constructor(lease: Lease, lazy: LazyAbort, sinks: Sinks) {
    const { id, tenant, type, queue, attempts, max_attempts, last_error, flow_id = null } = lease;
    this.job = { id, tenant, type, queue, attempt: attempts, max_attempts, last_error, flow_id };
    this.#lease = lease;
    this.#lazy = lazy;
    this.#sinks = sinks;
  }
  get signal(): AbortSignal {
    return signalOf(this.#lazy);
  }
  get logger(): Logger {
    const { id, type, attempt } = this.job;
    return (this.#logger ??= this.#sinks.logger.child({ job_id: id, job_type: type, attempt }));
  }
  /** What was logged so far; undefined if nothing. */
  get lines(): LogLine[] | undefined {
    return this.#lines;
  }
  /** What was added so far; undefined if nothing. */
  get spawned(): SpawnedJobs | undefined {
    return this.#spawn?.spawned();
  }
  // Functions without `this`: handlers destructure the context.
  get progress(): JobContext["progress"] {
    return (done, note) => {
      const told = { done: Number.isFinite(done) ? Math.min(Math.max(0, done), 1) : 0 };
      const { progress_note_chars_max } = limits;
      const noted = note === undefined ? told : { ...told, note: storableText(String(note), progress_note_chars_max) };
      this.#sinks.progress(this.#lease, noted);
    };
  }
  get spawn(): JobContext["spawn"] {
    return (this.#spawn ??= createSpawn(checkSpawned)).spawn;
  }
  get step(): JobContext["step"] {
    return this.#durable.step;
  }
  get waitFor(): JobContext["waitFor"] {
    return this.#durable.waitFor;
  }
  get #durable(): Steps {
    return (this.#steps ??= createSteps(this.#sinks.sources(this.#lease, this.#lazy).steps));
  }
  get parents(): JobContext["parents"] {
    return this.#waitedFor.parents;
  }
  get parentCounts(): JobContext["parentCounts"] {
    return this.#waitedFor.parentCounts;
  }
  get #waitedFor(): Parents {
    return (this.#parents ??= createParents(this.#sinks.sources(this.#lease, this.#lazy).parents));
  }
  get log(): JobContext["log"] {
    return (line) => {
      const kept = storableText(String(line), limits.log_line_chars_max);
      if (this.#sinks.log) return this.#sinks.log(kept);
      this.#lines ??= [];
      if (this.#lines.length >= limits.log_lines_max) this.#lines.shift();
      this.#lines.push({ at: new Date().toISOString(), line: kept });
    };
  }
}
