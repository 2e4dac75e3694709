import { isLocked } from "../database/errors.ts";
import type { Execute } from "../database/statement.ts";
import { createGroupCommit, type GroupCommit, type GroupCommitOptions } from "./group-commit.ts";
import { heldAmong, nameOf, type Wanted } from "./held.ts";

type Stored<Outcome> = (Outcome | Promise<Outcome> | undefined)[];

export type LineTerms<Item, Outcome> = {
  /** One statement for all of them, which waits for no lock for long: then it rejects (`isLocked`), with nothing done. */
  store(items: readonly Item[], answered: () => void): Promise<Stored<Outcome>>;
  /** What they want that others may have locked. */
  wants(item: Item): readonly Wanted[];
  /** As `submit` is told it. */
  weigh(item: Item): { bytes: number; rows: number };
  /** Whose it is: holders take turns. */
  holderOf(item: Item): string;
  rows_max?: number;
  /** What is different in the line itself, for those that have met no lock. */
  first?: Pick<GroupCommitOptions<Item>, "rows_max" | "flights_max" | "takes_turns" | "rest_ms_max">;
};

/** One request by its place, as the same submission may be sent twice. */
type One<Item> = { item: Item; at: number };
const numbered = <Item>(items: readonly Item[]): One<Item>[] => items.map((item, at) => ({ item, at }));
type Done<Outcome> = Map<number, Outcome | Promise<Outcome>>;

/** How long what was found locked is taken to be so. */
const held_ms = 500;

/**
 * Group commit in which nobody waits for a lock that others have met: when a statement does, those that want what is
 * locked go on in a line beside this one, until their deadline.
 *
 * @example
 * const line = createLine(execute, database.timeout_ms, { store, wants: wantedBy, weigh, holderOf });
 */
export function createLine<Item, Outcome>(
  execute: Execute,
  timeout_ms: number,
  { store, wants, weigh, holderOf, rows_max, first }: LineTerms<Item, Outcome>,
): GroupCommit<Item, Outcome> {
  const held_until = new Map<string, number>();
  const options = { holderOf, ...(rows_max !== undefined && { rows_max }) };

  const isKnown = (item: Item): boolean => {
    if (held_until.size === 0) return false;
    const now = performance.now();
    return wants(item).some((one) => (held_until.get(nameOf(one)) ?? 0) > now);
  };
  const look = async (items: readonly Item[]): Promise<ReadonlySet<string>> => {
    const held = await heldAmong(execute, items.flatMap(wants));
    const now = performance.now();
    for (const [name, until] of held_until) if (until <= now) held_until.delete(name);
    for (const name of held) held_until.set(name, now + held_ms);
    return held;
  };
  /** Undefined when nothing was done because of a lock. */
  const tryAll = async (requests: readonly One<Item>[], answered: () => void): Promise<Done<Outcome> | undefined> => {
    const done: Done<Outcome> = new Map();
    if (requests.length === 0) return done;
    try {
      const outcomes = await store(
        requests.map(({ item }) => item),
        answered,
      );
      for (const [nth, { at }] of requests.entries()) {
        const outcome = outcomes[nth];
        if (outcome !== undefined) done.set(at, outcome);
      }
      return done;
    } catch (error) {
      if (isLocked(error)) return undefined;
      throw error;
    }
  };

  // One of what is locked is waited for at a time: a group that is merely busy is locked at every look.
  const aside = createGroupCommit<Item, Outcome>(
    async (items, answered) => {
      const held = await look(items);
      answered();
      const requests = numbered(items);
      const isFree = ({ item }: One<Item>) => wants(item).every((one) => !held.has(nameOf(one)));
      const names = [...held];
      const chosen = names[Math.floor(Math.random() * names.length)];
      const waits = ({ item }: One<Item>) => wants(item).some((one) => nameOf(one) === chosen);
      const free = requests.filter(isFree);
      // Not both: what is stored by the one must not be sent again because the other fails.
      const turn = free.length > 0 && (chosen === undefined || Math.random() < 0.5) ? free : requests.filter(waits);
      const done = await tryAll(turn, answered);
      return items.map((_item, at) => done?.get(at));
    },
    timeout_ms,
    // Any number may want what stays locked: nobody must be kept behind them.
    { ...options, takes_turns: true },
  );

  const line = createGroupCommit<Item, Outcome>(
    async (items, answered) => {
      const isOpen = ({ item }: One<Item>) => !isKnown(item);
      const open = numbered(items).filter(isOpen);
      let done = await tryAll(open, answered);
      if (!done) {
        await look(open.map(({ item }) => item));
        done = await tryAll(open.filter(isOpen), answered);
      }
      return items.map((item, at) => {
        const outcome = done?.get(at);
        if (outcome !== undefined || !isKnown(item)) return outcome;
        const { bytes, rows } = weigh(item);
        return aside.submit(item, bytes, rows);
      });
    },
    timeout_ms,
    { ...options, ...first },
  );
  return {
    submit: line.submit,
    giveUp() {
      line.giveUp();
      aside.giveUp();
    },
    async idle() {
      await line.idle();
      await aside.idle();
    },
  };
}
