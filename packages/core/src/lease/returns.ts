import { isUnavailable, outcomeUnknown } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import { pause } from "../pause.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import type { Lease } from "./lease.ts";
import { release } from "./release.ts";
import { takeBack } from "./take-back.ts";

export type LeaseReturns = {
  /** A claim was sent under this token and not answered: whatever it leased goes back. `tenant`: for whom, if for one. */
  unanswered(lease_token: string, tenant?: string): void;
  /** These are held, but no one will use them. Resolves with how many went back, once the database has confirmed it. */
  giveBack(leases: readonly Lease[]): Promise<number>;
  /**
   * True when so many are on their way back that no further claim should be sent. With a tenant, only those of its own
   * count: what holds up one's jobs, such as somebody's open transaction, says nothing of another's.
   */
  full(tenant?: string): boolean;
  /** Resolves when all went back, or at the deadline: the rest then end with their leases. */
  close(deadline_ms: number): Promise<void>;
};

const returns_max = 200;
const retry_ms = 250;

type Return = { tenant: string | undefined; goBack(): Promise<"done" | "again">; giveUp(): void };

/**
 * Gives back leases that no one can use: claims whose answers were lost, and jobs that could not be started or handed
 * over. They must not cost an attempt, so each return is repeated until the database has answered.
 *
 * @example
 * const returns = createLeaseReturns(deps);
 * await claim(deps, ids, { ...claimer, unanswered: returns.unanswered });
 */
export function createLeaseReturns(deps: Deps & { signal: Signal }): LeaseReturns {
  const open = new Set<Return>();
  const openOf = new Map<string | undefined, number>();
  const stopped = new AbortController();
  let passing: Promise<void> | undefined;

  const note = (tenant: string | undefined, more: 1 | -1): void => {
    const count = (openOf.get(tenant) ?? 0) + more;
    if (count > 0) openOf.set(tenant, count);
    else openOf.delete(tenant);
  };
  const end = (one: Return): void => {
    if (open.delete(one)) note(one.tenant, -1);
  };

  /** True when the database answered for each. */
  const passOnce = async (): Promise<boolean> => {
    let all = true;
    for (const one of open)
      try {
        if ((await one.goBack()) === "done") end(one);
        else all = false;
      } catch (error) {
        if (!isUnavailable(error)) {
          // It would be refused again; its leases end by themselves.
          deps.observe({ event: "lease_return_failed", error: String(error) });
          end(one);
          one.giveUp();
          continue;
        }
        deps.observe({ event: "database_unavailable", during: "giving leases back", error: String(error) });
        all = false;
        // One that waits for a claim still on its way must not hold up the others.
        if (stopped.signal.aborted) break;
      }
    return all;
  };

  const pass = async (): Promise<void> => {
    while (open.size > 0 && !stopped.signal.aborted)
      if (!(await passOnce())) await pause(retry_ms * (0.5 + Math.random()), stopped.signal);
    passing = undefined;
  };

  const add = (one: Return): void => {
    open.add(one);
    note(one.tenant, 1);
    passing ??= pass();
  };

  return {
    unanswered(lease_token, tenant) {
      add({
        tenant,
        async goBack() {
          const { ready, locked } = await takeBack(deps, lease_token);
          await announce(deps, ready, "front");
          return locked === 0 ? "done" : "again";
        },
        giveUp() {},
      });
    },
    giveBack(leases) {
      if (leases.length === 0) return Promise.resolve(0);
      return new Promise((resolve) => {
        let left = leases;
        let returned = 0;
        let unsure = false;
        add({
          tenant: leases[0]?.tenant,
          async goBack() {
            const asked = left;
            const { given, locked } = await release(deps, asked).catch((error: unknown) => {
              unsure ||= outcomeUnknown(error);
              throw error;
            });
            returned += given.length;
            left = locked;
            // What is no longer held may have gone back in a try whose answer was lost, and then it has not been
            // signalled.
            await announce(deps, unsure ? asked.filter((one) => !locked.includes(one)) : given, "front");
            if (left.length > 0) return "again";
            resolve(returned);
            return "done";
          },
          giveUp: () => resolve(returned),
        });
      });
    },
    full: (tenant) => (tenant === undefined ? open.size : (openOf.get(tenant) ?? 0)) >= returns_max,
    async close(deadline_ms) {
      const over = new AbortController();
      await Promise.race([passing, pause(deadline_ms, over.signal)]);
      over.abort();
      stopped.abort();
      for (const one of open) one.giveUp();
      open.clear();
      openOf.clear();
    },
  };
}
