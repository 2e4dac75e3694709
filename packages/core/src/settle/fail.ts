import type { Deps } from "../deps.ts";
import { settle, type FailOutcome } from "./settle.ts";
import type { Failure } from "./statement.ts";

export type { FailOutcome } from "./settle.ts";
export type { Failure } from "./statement.ts";

/**
 * running → failed (until `run_at`) or dead, as the verdict says; after a dead one the next of its group may go. The
 * attempt goes to the history in the same statement. Otherwise like `complete`.
 *
 * @example
 * const verdict = verdictAfterFailure({ ...lease, retryable: true }, policy, Math.random());
 * const [outcome] = await fail(deps, [{ lease, error: errorText(thrown), verdict }]);
 */
export const fail = (deps: Deps, failures: readonly Failure[]): Promise<FailOutcome[]> =>
  settle(deps, failures) as Promise<FailOutcome[]>;
