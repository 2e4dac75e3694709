import type { Backoff } from "@atlasqueue/contract";

/** How long a failed job waits. Seconds may be decimal. */
export type BackoffPolicy = { baseSeconds: number; maxSeconds: number; jitterMaxSeconds: number };

/**
 * Milliseconds until the next attempt: min(base × 2^attempts, max) + random(0, jitter). `attempts` counts the claims
 * so far, this one included; a job's own `backoff` replaces base and max (which is never less than its base), and with kind "fixed" the doubling.
 * `random` is in [0, 1), so that a test can choose it.
 *
 * @example
 * backoffDelayMs({ baseSeconds: 5, maxSeconds: 3600, jitterMaxSeconds: 2 }, null, 1, 0.5); // 11_000
 */
export function backoffDelayMs(policy: BackoffPolicy, own: Backoff | null, attempts: number, random: number): number {
  const base = own?.base_seconds ?? policy.baseSeconds;
  const cap = own?.max_seconds ?? Math.max(policy.maxSeconds, own?.base_seconds ?? 0);
  const factor = own?.kind === "fixed" ? 1 : 2 ** attempts;
  return Math.round((Math.min(base * factor, cap) + random * policy.jitterMaxSeconds) * 1_000);
}
