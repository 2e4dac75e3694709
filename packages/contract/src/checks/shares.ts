export type Shares = {
  /**
   * Ask for room. `share_full`: the holder has used its share, but others still find room; `full`: there is none left.
   */
  take(holder: string, amount: number): "taken" | "share_full" | "full";
  give(holder: string, amount: number): void;
};

/** How much a holder may have for each part left for all others. */
const parts = 3;

/**
 * Room shared by many. No holder may have more than three times what is left: one alone gets three quarters, two get
 * three sevenths each, and a newcomer after any number of greedy ones still finds some. A fixed share would be too
 * little for an only tenant and too much for the tenth.
 *
 * @example
 * const waits = createShares(10_000);
 * if (waits.take(tenant, 1) === "taken") await wait().finally(() => waits.give(tenant, 1));
 */
export function createShares(max: number): Shares {
  const held = new Map<string, number>();
  let taken = 0;
  return {
    take(holder, amount) {
      const left = max - taken - amount;
      const own = (held.get(holder) ?? 0) + amount;
      // The first of a holder fits wherever there is room at all.
      if (own > amount && own > parts * left) return "share_full";
      if (left < 0) return "full";
      held.set(holder, own);
      taken += amount;
      return "taken";
    },
    give(holder, amount) {
      const own = (held.get(holder) ?? 0) - amount;
      taken -= amount;
      // Keep no trace of those that left: there can be as many holders as addresses.
      if (own > 0) held.set(holder, own);
      else held.delete(holder);
    },
  };
}
