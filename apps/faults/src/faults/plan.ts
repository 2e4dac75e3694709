import { between, chance, shuffled } from "@atlasqueue/harness/servers";
import type { Part } from "../rig/cast.ts";
import { heldBy, type Card, type Draw } from "./card.ts";
import { linkCards } from "./of-links.ts";
import { postgresCards } from "./of-postgres.ts";
import { processCards } from "./of-processes.ts";
import { redisCards } from "./of-redis.ts";

export const cards: readonly Card[] = [...processCards, ...postgresCards, ...redisCards, ...linkCards];

export type Planned = Draw & { at_ms: number; card: string };

const gap_ms = { least: 5_000, most: 15_000 };
/** A fault takes longer than planned on a busy machine. */
const slack_ms = 2_000;

/**
 * Which fault happens when to whom, from the start of the load: the same for the same seed, parts and time. All cards are
 * dealt once before any is dealt again, and none to a victim that another one still has. `from` names fewer cards.
 *
 * @example
 * plan(1, 90_000, parts(250, [])); // [{ at_ms: 7412, card: "failover", victim: "postgres", size: 2000 }, …]
 */
export function plan(seed: number, ms: number, parts: readonly Part[], from: readonly Card[] = cards): Planned[] {
  const random = chance(seed);
  const planned: Planned[] = [];
  const busy_until = new Map<string, number>();
  let deck: Card[] = [];
  for (let at_ms = between(random, 2_000, gap_ms.least); at_ms < ms;) {
    const free = (victim: string) => (busy_until.get(heldBy(victim)) ?? 0) <= at_ms;
    if (deck.length === 0) deck = shuffled(random, from);
    const next = deck.findIndex((card) => card.victims(parts).some(free));
    const [card] = next === -1 ? [] : deck.splice(next, 1);
    if (card) {
      const victim = pick(random, card.victims(parts).filter(free));
      const size = pick(random, card.sizes);
      planned.push({ at_ms, card: card.name, victim, size });
      busy_until.set(heldBy(victim), at_ms + card.takes_ms(size) + slack_ms);
    }
    at_ms += between(random, gap_ms.least, gap_ms.most);
  }
  return planned;
}

const pick = <T>(random: () => number, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
