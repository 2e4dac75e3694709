import { isUnavailable } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import { pause } from "../pause.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { returnable, type Returnable } from "./lease.ts";
import { release, revokeClaim } from "./release.ts";

export type LeaseReleaser = {
  /** A claim was sent under this token and not answered: whatever it leased goes back. */
  unanswered(lease_token: string, tenant: string): void;
  /**
   * These are held, but no one will use them. Resolves with how many went back, once the database has confirmed it.
   * `later`: they are to be offered again later (`release`).
   */
  release(leases: readonly Returnable[], options?: { later?: boolean }): Promise<number>;
  /** True when so many are on their way back that no further claim should be sent. */
  full(): boolean;
  /** Resolves when all went back, or at the deadline: the rest then end with their leases. */
  close(deadline_ms: number): Promise<void>;
};

const returns_max = 200;
const retry_ms = 250;

/** Jobs that are held, of which `left` have not gone back yet. */
type Held = {
  left: readonly Returnable[];
  later: boolean;
  returned: number;
  resolve(returned: number): void;
};
type Unanswered = { tenant: string; token: string };

/**
 * Gives back leases that no one can use: claims whose answers were lost, and jobs that could not be started or handed
 * over. They must not cost an attempt, so each return is repeated until the database has answered.
 * See decisions/2026-11-21-lost-answers.md.
 *
 * @example
 * const returns = createLeaseReleaser(deps);
 * await claim(deps, ids, { ...claimer, unanswered: returns.unanswered });
 */
export function createLeaseReleaser(deps: Deps & { signal: Signal }): LeaseReleaser {
  const held = new Set<Held>();
  const unanswered = new Set<Unanswered>();
  const stopped = new AbortController();
  let passing: Promise<void> | undefined;

  const size = () => held.size + unanswered.size;
  const begin = <One>(open: Set<One>, one: One): void => {
    open.add(one);
    passing ??= pass();
  };
  /** False when it would be refused again: its leases end by themselves. */
  const mayBeRepeated = (error: unknown): boolean => {
    const may = isUnavailable(error);
    if (may) deps.observe({ event: "database_unavailable", during: "giving leases back", error: String(error) });
    else deps.observe({ event: "lease_return_failed", error: String(error) });
    return may;
  };

  const takeOneBack = async (one: Unanswered): Promise<void> => {
    try {
      const { given, locked } = await revokeClaim(deps, one.tenant, one.token);
      await announce(deps, given, "front");
      if (locked.length === 0) unanswered.delete(one);
    } catch (error) {
      if (!mayBeRepeated(error)) unanswered.delete(one);
    }
  };

  const answer = (one: Held): void => {
    held.delete(one);
    one.resolve(one.returned);
  };
  /** All that are given back meanwhile go together: one by one, the last would wait longer than its lease. */
  const releaseTogether = async (later: boolean): Promise<void> => {
    const some = [...held].filter((one) => one.later === later);
    try {
      const all = some.flatMap(({ left }) => left);
      const { given, locked } = await release(deps, all, { later });
      const [isGiven, isLocked] = [new Set(given), new Set(locked)];
      for (const one of some) {
        one.returned += one.left.filter((lease) => isGiven.has(lease)).length;
        one.left = one.left.filter((lease) => isLocked.has(lease));
      }
      // What went back in a try whose answer was lost is signalled by the sweep.
      if (!later) await announce(deps, given, "front");
      some.filter(({ left }) => left.length === 0).forEach(answer);
    } catch (error) {
      if (!mayBeRepeated(error)) some.forEach(answer);
    }
  };

  const pass = async (): Promise<void> => {
    while (size() > 0 && !stopped.signal.aborted) {
      const before = new Set<Held | Unanswered>([...held, ...unanswered]);
      const left = [...unanswered];
      // One that waits for a claim still on its way must not hold up the others.
      const lane = async () => {
        for (let one = left.shift(); one && !stopped.signal.aborted; one = left.shift()) await takeOneBack(one);
      };
      await Promise.all([releaseTogether(false), releaseTogether(true), lane(), lane(), lane()]);
      // Rest before what is repeated, not before what has come meanwhile.
      if ([...held, ...unanswered].some((one) => before.has(one)))
        await pause(retry_ms * (0.5 + Math.random()), stopped.signal);
    }
    passing = undefined;
  };

  return {
    unanswered: (token, tenant) => begin(unanswered, { token, tenant }),
    release: (leases, { later = false } = {}) =>
      leases.length === 0
        ? Promise.resolve(0)
        : new Promise((resolve) => {
            begin(held, {
              left: leases.map(returnable),
              later,
              returned: 0,
              resolve,
            });
          }),
    full: () => size() >= returns_max,
    async close(deadline_ms) {
      const over = new AbortController();
      await Promise.race([passing, pause(deadline_ms, over.signal)]);
      over.abort();
      stopped.abort();
      for (const one of held) one.resolve(one.returned);
      held.clear();
      unanswered.clear();
    },
  };
}
