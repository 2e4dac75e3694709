import { between, oneOf, shuffled } from "@atlasqueue/harness/servers";
import type { ModelApi } from "./model-api.ts";
import { fates, type Fate } from "./network.ts";

/** What becomes of the calls of a life. */
export type Fortune = {
  fateOf(path: string): Fate;
  /** Whether what calls have met excuses that a lease ended though no handler had its job. */
  excusesUnseen(): boolean;
  /** Whether it excuses that a worker takes a lease for lost now, while the handler runs or as its outcome is told. */
  excusesLost(during: "handling" | "settling"): boolean;
  /** Whether the worker is stopped in the middle of it. */
  stops?: boolean;
  /** Now and then, for what befalls the API itself. */
  turn?(api: ModelApi): void;
};
export type World = { random: () => number; lease_ms: number };

/** One call in the time of a lease meets something; that costs nothing. */
export function oneFault({ random, lease_ms }: World, stops = false): Fortune {
  let last_ms = -Infinity;
  return {
    fateOf(path) {
      // Most calls ask for jobs where there are none.
      if (performance.now() < last_ms + lease_ms + 2_000 || random() < (path.endsWith("/lease") ? 0.7 : 0.3))
        return "prompt";
      last_ms = performance.now();
      return oneOf(random, fates) ?? "prompt";
    },
    stops,
    excusesUnseen: () => false,
    excusesLost: () => false,
  };
}

type Storm = { from_ms: number; to_ms: number; is_outage: boolean; fates: readonly Fate[] };

/** Storms, in which each call meets some of a few fates or PostgreSQL is away, and calm between them. */
export function storms({ random, lease_ms }: World): Fortune {
  const weather: Storm[] = [];
  const longestMs = () => (random() < 0.5 ? lease_ms : 2 * lease_ms + 60_000);
  for (let at_ms = performance.now(); weather.length < 40;) {
    const from_ms = at_ms + (random() < 0.3 ? 0 : between(random, 500, 1.5 * lease_ms));
    const to_ms = from_ms + between(random, 500, longestMs());
    const is_outage = random() < 0.3;
    const met = shuffled(random, fates).slice(0, between(random, 1, 3));
    weather.push({ from_ms, to_ms, is_outage, fates: met });
    at_ms = to_ms + 500;
  }
  const now = () => weather.find(({ from_ms, to_ms }) => performance.now() >= from_ms && performance.now() < to_ms);
  /** Of the last renewal that may be under way until a lease ends. */
  const last_ms = Math.min(12_500, lease_ms / 2);
  return {
    fateOf() {
      const storm = now();
      return (storm && !storm.is_outage && random() < 0.9 && oneOf(random, storm.fates)) || "prompt";
    },
    turn(api) {
      if (now()?.is_outage) api.databaseGoes();
      else api.databaseComes();
    },
    // A repetition may come too late.
    excusesUnseen: () => true,
    // An answer that PostgreSQL is away holds a job as well as a renewal.
    excusesLost(during) {
      // A try to tell an outcome may be under way for long when the lease has ended.
      const since_ms = performance.now() - (during === "handling" ? last_ms : lease_ms + 60_000);
      return weather.some(
        ({ from_ms, to_ms, is_outage }) => !is_outage && to_ms > since_ms && from_ms < performance.now(),
      );
    },
  };
}
