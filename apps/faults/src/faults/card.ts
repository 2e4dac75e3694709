import type { Part } from "../rig/cast.ts";
import type { Rig } from "../rig/rig.ts";

/** What a card is played with: drawn from the seed. */
export type Draw = { victim: string; size: number };

/** One kind of fault: what it does to whom, and how that heals. */
export type Card = {
  name: string;
  /** Whom it may be played against: a process, a server or a link, by name. */
  victims(parts: readonly Part[]): readonly string[];
  /** How hard it may hit, in the unit the card gives it: mostly ms. */
  sizes: readonly number[];
  /** Until its victim is well again, about; nothing else is planned for the victim meanwhile. */
  takes_ms(size: number): number;
  signal?: NodeJS.Signals;
  /** Resolves when the victim is well again, with a word about it if there is one. */
  play(rig: Rig, draw: Draw): Promise<string | void>;
};

/** What two cards must not be played against at once. */
export const heldBy = (victim: string): string => (victim.startsWith("postgres") ? "postgres" : victim);
