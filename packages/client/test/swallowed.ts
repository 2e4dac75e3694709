/**
 * What the network makes of a call that it swallows: no answer, until the caller hangs up.
 *
 * @example
 * const client = createClient({ url, fetch: (_input, init) => swallowed(init?.signal) });
 */
export const swallowed = (signal: AbortSignal | null | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
