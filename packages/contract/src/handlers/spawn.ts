import type { Fault } from "../checks/json.ts";
import { limits } from "../checks/limits.ts";
import type { Checked } from "../checks/validate.ts";
import type { SpawnedJob, SpawnedJobInput } from "../wire/submit/submission.ts";

export type Spawn = {
  /**
   * Add jobs as this one succeeds: they are stored together with its result, or neither is, and never if it throws. They
   * join its flow, may wait for one another by `ref` and for jobs that exist by id, and receive its result as that of
   * their first parent. With `dependantsWait` in any call, the jobs that wait for this one wait for all of them too.
   * Call it as often as you like, for 1,000 jobs and 15 MiB of JSON in all. Throws a SpawnError for a job that is not
   * valid.
   */
  spawn(jobs: SpawnedJobInput | readonly SpawnedJobInput[], options?: { dependantsWait?: boolean }): void;
};

/** What a handler has added so far. */
export type SpawnedJobs = { children: SpawnedJob[]; dependants_wait: boolean };

/** Jobs that a handler added and that cannot be stored, each named by its place in the order of adding. */
export class SpawnError extends Error {
  override readonly name = "SpawnError";
}

/** What is wrong with them, in one line. */
export function spawnErrorOf(faults: readonly Fault[]): SpawnError {
  return new SpawnError(faults.map(({ pointer, message }) => `${pointer} ${message}`).join("; "));
}

/**
 * Keeps what the handler of one attempt adds, as `check` (see `checkSpawned`) makes it. Where the API checks them, it is
 * left out: a page in a browser need not load zod for it.
 *
 * @example
 * const { spawn, spawned } = createSpawn(checkSpawned);
 */
export function createSpawn(
  check: (jobs: readonly SpawnedJobInput[]) => Checked<SpawnedJob[]> = (jobs) => ({
    kind: "valid",
    value: jobs as SpawnedJob[],
  }),
): Spawn & { spawned(): SpawnedJobs | undefined } {
  const children: SpawnedJob[] = [];
  let chars = 0;
  let wait = false;
  return {
    spawn(jobs, { dependantsWait = false } = {}) {
      const checked = check([jobs].flat());
      if (checked.kind === "invalid") throw spawnErrorOf(checked.faults);
      const added = checked.value;
      if (children.length + added.length > limits.batch_items_max)
        throw new SpawnError(`a job must not add more than ${limits.batch_items_max} jobs`);
      const more = JSON.stringify(added).length;
      if (chars + more > limits.spawned_chars_max)
        throw new SpawnError(
          `the jobs that a job adds must not have more than ${limits.spawned_chars_max} characters as JSON`,
        );
      // The handler may change its payloads afterwards.
      children.push(...structuredClone(added));
      chars += more;
      wait ||= dependantsWait;
    },
    spawned: () => (children.length > 0 ? { children, dependants_wait: wait } : undefined),
  };
}
