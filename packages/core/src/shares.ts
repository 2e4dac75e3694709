import type { Shares } from "@atlasqueue/contract";

/** There is no room: `share` when others would still find some. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";
  readonly share: boolean;
  constructor(what: string, share: boolean) {
    super(share ? `The tenant has its share of the ${what}` : `There is no room for more ${what}`);
    this.share = share;
  }
}

/**
 * The same for callers that cannot go on without it. Throws `NoRoomError`; `what`, in the plural, is for its message.
 */
export function takeOrThrow(shares: Shares, holder: string, amount: number, what: string): void {
  const taken = shares.take(holder, amount);
  if (taken !== "taken") throw new NoRoomError(what, taken === "share_full");
}
