import { readyAmong } from "@atlasqueue/core/internal/worker";
import type { WorkerDeps } from "../deps.ts";
import { readyTenantsInTurn } from "./ready-tenants.ts";
import type { Served } from "./served.ts";

/** Queues looked at in one statement. */
const queues_max = 2_000;
/** With as many tenants in line, no others are looked for. */
const tenants_max = 500;
/** Between two looks: nine times as long as the last one took, within these bounds, and longest after a failed one. */
const rest_ms = { min: 20, max: 1_000 };
const rest_times = 9;

export type TenantLine = ReturnType<typeof createTenantLine>;

/**
 * The tenants that have jobs, in line: the first has its turn, and with more jobs goes to the end. PostgreSQL says which of
 * any number of tenants these are, in proportion to how many have jobs. `failed` reports a look that failed.
 * See core's decisions/2026-11-26-many-tenants.md.
 */
export function createTenantLine(
  deps: WorkerDeps,
  served: Served,
  failed: (error: unknown) => void,
  now: () => number = () => performance.now(),
) {
  const line = new Set<string>();
  const nextPage = readyTenantsInTurn(deps, served.wanted);
  let looking: Promise<void> | undefined;
  /** Jobs came, or were taken, since the last look began. */
  let stirred = true;
  let more = false;
  let ended_at = -Infinity;
  let short_ms = rest_ms.min;
  let long_ms = rest_ms.min;

  const lookAround = async (): Promise<void> => {
    const page = await nextPage();
    const together = Math.max(1, Math.floor(queues_max / served.open().length));
    for (let at = 0; at < page.tenants.length; at += together)
      for (const { tenant } of await readyAmong(deps, served.queuesOf(page.tenants.slice(at, at + together))))
        line.add(tenant);
    more = page.more;
  };
  const lookOnce = async (): Promise<void> => {
    const began_at = now();
    const had_stirred = stirred;
    stirred = false;
    try {
      await lookAround();
      short_ms = Math.min(Math.max(rest_ms.min, (now() - began_at) * rest_times), rest_ms.max);
    } catch (error) {
      failed(error);
      stirred ||= had_stirred;
      short_ms = rest_ms.max;
    }
    ended_at = now();
    long_ms = had_stirred ? short_ms : Math.min(Math.max(short_ms, long_ms * 2), rest_ms.max);
    looking = undefined;
  };

  return {
    /** Jobs of this tenant came or were taken. With more left it goes to the end of the line, or is found again when that is long. */
    taken(tenant: string, more_left: boolean): void {
      stirred = true;
      line.delete(tenant);
      // A full line becomes shorter, or others would not be looked for while these have more.
      if (more_left && line.size + 1 < tenants_max) line.add(tenant);
    },
    first: () => line.values().next().value,
    leave: (tenant: string) => void line.delete(tenant),
    /** Whether the last look left tenants to the next one. */
    more: () => more,
    /** How long until the next look is due. With `all_named`, as a wait names all lists, only once jobs came. */
    lookInMs(all_named: boolean): number {
      if (looking || line.size >= tenants_max || (all_named && !stirred)) return Infinity;
      return Math.max(0, ended_at + (stirred || more ? short_ms : long_ms) - now());
    },
    /** Put tenants with ready jobs in our queues in line: a page of all, and the next time another. Never rejects. */
    look: () => (looking ??= lookOnce()),
    /** The look that is under way. */
    looking: () => looking,
  };
}
