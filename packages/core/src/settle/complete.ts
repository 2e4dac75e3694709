import type { Deps } from "../deps.ts";
import { settle, type SettleOutcome } from "./settle.ts";
import type { Completion } from "./statement.ts";

export type { SettleOutcome } from "./settle.ts";
export type { Completion } from "./statement.ts";

/**
 * running → succeeded, and blocked → queued | scheduled for the next jobs of their groups. Only the holder of the current
 * lease may do this; others get `lease_lost` and their result is not stored. Repeated, as its answer may get lost, it
 * changes nothing and returns the same. Results must be storable (see `findFaults`). Outcomes are in the order given.
 *
 * @example
 * const [outcome] = await complete(deps, [{ lease, result: { sent: true } }]);
 */
export const complete = (deps: Deps, completions: readonly Completion[]): Promise<SettleOutcome[]> =>
  settle(deps, completions) as Promise<SettleOutcome[]>;
