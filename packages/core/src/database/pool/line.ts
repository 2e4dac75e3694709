/** After so many turns in a row that went past a class, the next one is its. */
const passed_max = 3;

/** Those of one holder that wait for their turns, each in one of a few classes. */
export type Line<Class extends string, T> = {
  add(of: Class, one: T): void;
  /** It waits no more; whether it did. */
  delete(one: T): boolean;
  size(): number;
  /** Whose turn is next, `but` for a class that cannot have one now: see `took`. */
  next(but?: Class): { of: Class; one: T } | undefined;
  /** One of a class had its turn, and those that wait in later classes were passed. */
  took(of: Class): void;
  /** Whether one that came now, in this class, would have to wait for another of it, or of an earlier one. */
  isBefore(of: Class): boolean;
};

/**
 * Earlier classes go first, in their order of arrival; but what is never idle does not keep what is behind it waiting for
 * ever: every fourth turn is one of a class that was passed.
 *
 * @example
 * const line = createLine<"ahead" | "rest", () => void>(["ahead", "rest"]);
 * line.add("rest", begin);
 */
export function createLine<Class extends string, T>(classes: readonly Class[]): Line<Class, T> {
  const kinds = classes.map((of) => ({ of, waiting: new Set<T>(), passed: 0 }));
  const placeOf = (of: Class): number => classes.indexOf(of);
  return {
    add: (of, one) => void kinds[placeOf(of)]?.waiting.add(one),
    delete: (one) => kinds.some(({ waiting }) => waiting.delete(one)),
    size: () => kinds.reduce((sum, { waiting }) => sum + waiting.size, 0),
    next(but) {
      const wait = kinds.filter(({ of, waiting }) => waiting.size > 0 && of !== but);
      const kind = wait.findLast(({ passed }) => passed >= passed_max) ?? wait[0];
      for (const one of kind?.waiting ?? []) return kind && { of: kind.of, one };
      return undefined;
    },
    took(of) {
      const place = placeOf(of);
      for (const [at, kind] of kinds.entries()) {
        if (at === place) kind.passed = 0;
        else if (at > place && kind.waiting.size > 0) kind.passed += 1;
      }
    },
    isBefore: (of) => kinds.slice(0, placeOf(of) + 1).some(({ waiting }) => waiting.size > 0),
  };
}
