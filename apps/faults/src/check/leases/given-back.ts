import type { Facts } from "../facts.ts";
import { clocks_ms, type Held } from "../leases.ts";
import { hasCrashed, heardMs } from "../trouble.ts";

/** How long a client rests at first between two tries. */
const first_rests_ms = 500;

/**
 * What a remote worker did wrong about a lease that was lost, if the history shows it: it had no answer with the job, and
 * neither repeated its request nor released the token while there was time, or was told that it had been released and yet it was
 * lost.
 */
export function givenBackWrongly(facts: Facts, lease: Held): string | undefined {
  const { leaseCalls, givenBack, settings } = facts;
  const { token, to_ms } = lease;
  const unheard = leaseCalls.filter(
    ({ asked_under, known }) => token !== null && asked_under === token && known === "info",
  );
  if (unheard.length === 0 || heardMs(facts, lease) !== undefined) return undefined;
  // What was told before may be forgotten.
  const kept = !hasCrashed(facts, lease);
  const tries = givenBack.filter((one) => one.token === token);
  if (kept && tries.some(({ known, to_ms: told_ms }) => known === "ok" && told_ms < to_ms - clocks_ms))
    return "it had been given back";
  const unheard_at_ms = Math.max(...unheard.map((call) => call.to_ms));
  const ask_by_ms = unheard_at_ms + settings.lease_ms / 3 + first_rests_ms;
  const repeated = leaseCalls.filter((call) => call.asked_under === token && call.from_ms >= unheard_at_ms);
  const in_time = [...tries, ...repeated].some(({ from_ms }) => from_ms < ask_by_ms);
  return in_time || ask_by_ms > to_ms ? undefined : "it was not asked for again, nor given back";
}
