import type { Queue } from "@atlasqueue/core";
import type { AtlasQueueRunner } from "./runner.ts";

/** As Terminus takes it. */
type Health<Key extends string> = Record<Key, { status: "up" | "down"; message?: string }>;

/** A worker that could not take jobs for longer is down. */
const stuck_ms_max = 10_000;
const answer_ms_max = 3_000;

/**
 * For Terminus: whether the database answers, and this process' worker takes jobs.
 *
 * @example
 * health.check([() => atlasqueue.isHealthy("queue")]);
 */
export class AtlasQueueHealthIndicator {
  readonly #queue: Queue;
  readonly #runner: AtlasQueueRunner;
  constructor(queue: Queue, runner: AtlasQueueRunner) {
    this.#queue = queue;
    this.#runner = runner;
  }

  /** Never rejects: `status` is "down", with the reason, if something is wrong. */
  async isHealthy<Key extends string>(key: Key): Promise<Health<Key>> {
    const message = await this.#whatIsWrong();
    const health = message === undefined ? { status: "up" as const } : { status: "down" as const, message };
    return { [key]: health } as Health<Key>;
  }

  async #whatIsWrong(): Promise<string | undefined> {
    const stuck_ms = this.#runner.worker?.stuckForMs() ?? 0;
    if (stuck_ms > stuck_ms_max) return `the worker has taken no jobs for ${Math.round(stuck_ms / 1_000)} s`;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("no response from the database")), answer_ms_max);
    try {
      await Promise.race([this.#queue.schedules.get("health"), late.promise]);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      clearTimeout(timer);
    }
  }
}
