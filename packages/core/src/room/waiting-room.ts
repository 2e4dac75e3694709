import { createShares } from "@atlasqueue/contract";
import { CallerGoneError, certainlyNotApplied } from "../database/errors.ts";
import { createLine, type Line } from "../database/pool/line.ts";
import { NoRoomError } from "../shares.ts";

/** Room for one who may have to wait for it. Nothing is taken yet. */
export type Place = {
  /**
   * Take the room: at once, which is undefined, or when its turn has come. Rejects with `NoRoomError` when that is too
   * late, or too many wait, and with `CallerGoneError` when `gone` aborts before. Who has it already keeps it.
   */
  enter(gone?: () => AbortSignal): Promise<void> | undefined;
  /** Take the room if it can be had at once, overtaking nobody who waits for there to be enough; whether it has it. */
  enterNow(): boolean;
  /** Give back what was taken, if anything was. */
  leave(): void;
};

export type WaitingRoom = {
  /**
   * For one of a holder's; one that wants more than all of it has all of it, alone. `ahead` goes before what else waits
   * for its holder, as a lease may end meanwhile, but for every fourth turn.
   */
  place(holder: string, amount: number, order?: { ahead: boolean }): Place;
  /** How many wait. */
  waiting(): number;
};

type Bounds = { room_max: number; waiting_max: number; wait_ms_max: number };
type Waiter = { amount: number; begin(): void };
/** What waits for a holder. */
const classes = ["ahead", "rest"] as const;
type Class = (typeof classes)[number];

/**
 * Room shared by many, for which those who find none wait in line. Each holder has a line and a share of the room (see
 * `createShares`), and holders take turns. Whoever is next waits until there is enough: nobody who wants little
 * overtakes, or who wants much would wait for ever. Who has room keeps others from it, so whatever else they still wait
 * for must not be in the hands of those that have none: see `ahead` for the turn to send a statement.
 *
 * @example
 * const place = room.place(tenant, 1_000_000);
 * await place.enter(); // and, when it is done: place.leave()
 */
export function createWaitingRoom(what: string, { room_max, waiting_max, wait_ms_max }: Bounds): WaitingRoom {
  const room = createShares(room_max);
  const seats = createShares(waiting_max);
  /** None is empty, and those whose turn is over are last. */
  const lines = new Map<string, Line<Class, Waiter>>();
  let waiting = 0;

  const join = (holder: string, waiter: Waiter, ahead: boolean): void => {
    const line = lines.get(holder) ?? createLine<Class, Waiter>(classes);
    lines.set(holder, line);
    line.add(ahead ? "ahead" : "rest", waiter);
    waiting += 1;
  };
  const out = (holder: string, waiter: Waiter): void => {
    const line = lines.get(holder);
    if (!line?.delete(waiter)) return;
    waiting -= 1;
    if (line.size() === 0) lines.delete(holder);
  };
  const letIn = (): void => {
    for (const [holder, line] of lines) {
      const next = line.next();
      const taken = next ? room.take(holder, next.one.amount) : "full";
      if (taken === "full") return;
      if (taken === "share_full" || !next) continue;
      // Once more in this very round, if there is room for all that wait.
      lines.delete(holder);
      lines.set(holder, line);
      out(holder, next.one);
      line.took(next.of);
      next.one.begin();
    }
  };

  type Wish = { amount: number; ahead: boolean; gone: (() => AbortSignal) | undefined; taken: () => void };
  const wait = (holder: string, { amount, ahead, gone, taken: have }: Wish): Promise<void> =>
    new Promise((resolve, reject) => {
      const taken = seats.take(holder, 1);
      if (taken !== "taken") return reject(certainlyNotApplied(new NoRoomError(what, taken === "share_full")));
      const left = gone?.();
      const stop = (): void => {
        seats.give(holder, 1);
        clearTimeout(timer);
        left?.removeEventListener("abort", hangUp);
      };
      const waiter: Waiter = {
        amount,
        begin() {
          stop();
          have();
          resolve();
        },
      };
      const giveUp = (error: Error): void => {
        stop();
        out(holder, waiter);
        reject(error);
        // It may have been the one that the others waited for.
        letIn();
      };
      const hangUp = () => giveUp(new CallerGoneError());
      const late = () => giveUp(certainlyNotApplied(new NoRoomError(what, false)) as Error);
      const timer = setTimeout(late, wait_ms_max);
      left?.addEventListener("abort", hangUp, { once: true });
      join(holder, waiter, ahead);
      if (left?.aborted) hangUp();
    });

  return {
    waiting: () => waiting,
    place(holder, wanted, { ahead } = { ahead: false }) {
      const amount = Math.min(Math.max(1, wanted), room_max);
      let held = 0;
      const taken = () => void (held = amount);
      const enterNow = (): boolean => {
        if (held > 0) return true;
        // In its place among those that wait: they may only do so for the rest of their holders' shares.
        const waiter = { amount, begin: taken };
        join(holder, waiter, ahead);
        letIn();
        out(holder, waiter);
        return held > 0;
      };
      return {
        enterNow,
        enter: (gone) => (enterNow() ? undefined : wait(holder, { amount, ahead, gone, taken })),
        leave() {
          if (held === 0) return;
          room.give(holder, held);
          held = 0;
          if (waiting > 0) letIn();
        },
      };
    },
  };
}
