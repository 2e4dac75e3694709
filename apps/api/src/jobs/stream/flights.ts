export type Flights<Landed> = {
  /** Resolves when one more may be under way, or `stop` aborts. */
  room(stop: AbortSignal): Promise<void>;
  /** It must not reject. */
  add(flight: Promise<Landed>): void;
  /** There will be no more. */
  close(): void;
  /** The first one, when it has landed, which makes room; undefined when all are through. One call at a time. */
  next(): Promise<Landed | undefined>;
  /** Since when, by `performance.now()`, the first one has waited to be asked for; undefined when none does. */
  waitsSince(): number | undefined;
};

/**
 * A few pieces of work under way at once, taken in the order in which they began. One that was not asked for holds its
 * place: whoever does not take results gets no more work done.
 *
 * @example
 * const flights = createFlights<string>(2);
 * await flights.room(stop);
 * flights.add(store(lines));
 */
export function createFlights<Landed>(flights_max: number): Flights<Landed> {
  type Flight = { landing: Promise<Landed>; landed_at: number | undefined };
  const flights: Flight[] = [];
  let closed = false;
  let changed: (() => void)[] = [];
  const change = () => {
    for (const tell of changed.splice(0)) tell();
  };
  const toChange = () => new Promise<void>((resolve) => changed.push(resolve));
  let asked = false;
  let asked_until = -Infinity;

  return {
    async room(stop) {
      stop.addEventListener("abort", change, { once: true });
      while (flights.length >= flights_max && !stop.aborted) await toChange();
      stop.removeEventListener("abort", change);
    },
    add(landing) {
      const flight: Flight = { landing, landed_at: undefined };
      flights.push(flight);
      void landing.then(() => (flight.landed_at = performance.now()));
      change();
    },
    close() {
      closed = true;
      change();
    },
    async next() {
      asked = true;
      while (flights.length === 0 && !closed) await toChange();
      const landed = await flights[0]?.landing;
      flights.shift();
      asked = false;
      asked_until = performance.now();
      change();
      return landed;
    },
    waitsSince() {
      const landed_at = flights[0]?.landed_at;
      return asked || landed_at === undefined ? undefined : Math.max(landed_at, asked_until);
    },
  };
}
