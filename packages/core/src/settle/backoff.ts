import type { Backoff } from "@atlasqueue/contract";

/** How long a failed job waits. Seconds may be decimal. */
export type BackoffPolicy = { base_seconds: number; max_seconds: number; jitter_seconds_max: number };

/**
 * Milliseconds until the next attempt: min(base × 2^attempts, max) + random(0, jitter). `attempts` counts the claims
 * so far, this one included; a job's own `backoff` replaces base and max (which is never less than its base), and with kind "fixed" the doubling.
 * `random` is in [0, 1), so that a test can choose it.
 *
 * @example
 * backoffDelayMs({ base_seconds: 5, max_seconds: 3600, jitter_seconds_max: 2 }, null, 1, 0.5); // 11_000
 */
export function backoffDelayMs(policy: BackoffPolicy, own: Backoff | null, attempts: number, random: number): number {
  const base = own?.base_seconds ?? policy.base_seconds;
  const cap = own?.max_seconds ?? Math.max(policy.max_seconds, own?.base_seconds ?? 0);
  const factor = own?.kind === "fixed" ? 1 : 2 ** attempts;
  return Math.round((Math.min(base * factor, cap) + random * policy.jitter_seconds_max) * 1_000);
}
