import type { Deps } from "../deps.ts";
import type { Pass } from "../maintenance/advancer.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { advanceGroups } from "./advance.ts";

/** Statements in one go, leaving a sweep time for its other duties. */
const rounds_max = 50;

/**
 * Let the next job of each waiting group through, and signal it. Where a page of notes was full of groups that cannot go
 * on, or had more to let through than one statement can, other tenants' notes come first.
 *
 * @example
 * const { left } = await advanceAll(deps);
 */
export async function advanceAll(deps: Deps & { signal: Signal }, notes_max = 500): Promise<Pass & { total: number }> {
  let total = 0;
  let except: string[] = [];
  for (let round = 0; round < rounds_max; round += 1) {
    const { more, later, left, ready } = await advanceGroups(deps, notes_max, except);
    await announce(deps, ready);
    total += ready.length;
    if (!more && except.length === 0) return { total, left, more };
    except = more ? [...except, ...later] : [];
  }
  return { total, left: true, more: true };
}
