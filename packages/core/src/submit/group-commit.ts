import { createShares } from "@atlasqueue/contract";
import { certainlyNotApplied, DatabaseTimeoutError, isUnavailable, outcomeUnknown } from "../database/errors.ts";
import { waits_max } from "../database/patience.ts";
import { NoRoomError } from "../shares.ts";
import { createWaiting } from "./waiting.ts";

/** The most rows and payload bytes in one INSERT. */
const batch_rows_max = 500;
const batch_bytes_max = 4 * 1_048_576;
/** INSERTs under way at once: while one waits for the disk, the next is made. */
const usual_flights_max = 2;
/**
 * The most requests that wait, of which each holder has a share: more than all streams of an API may have under way,
 * which wait for no room but that of the streams.
 */
const usual_waiting_max = 120_000;
const watch_ms = 100;
/** The longest (random) rest before a request whose keys were taken meanwhile is tried again. */
const usual_rest_ms_max = 20;

export type GroupCommit<Item, Outcome> = {
  /**
   * Resolves when the item is durable; rejects when it cannot be, or when that is unknown by the deadline. While the
   * database keeps answering others in line, that is three deadlines away. `rows` is how many jobs it has. Rejects with
   * `NoRoomError` when the line is full, or the holder has its share of it.
   */
  submit(item: Item, bytes: number, rows?: number): Promise<Outcome>;
  /** Resolves when everything submitted has been answered. */
  idle(): Promise<void>;
  /** Nobody waits for the answers any more: what waits, now or later, is rejected. What is on its way has its outcome. */
  giveUp(): void;
};

type Request<Item, Outcome> = {
  item: Item;
  holder: string;
  bytes: number;
  rows: number;
  at: number;
  resolve(outcome: Outcome | Promise<Outcome>): void;
  reject(error: unknown): void;
};

export type GroupCommitOptions<Item> = {
  /** Whose request it is. */
  holderOf?: (item: Item) => string;
  rows_max?: number;
  waiting_max?: number;
  flights_max?: number;
  rest_ms_max?: number;
  takes_turns?: boolean;
};

/**
 * Group commit: jobs, or flows of them, that come in while an INSERT is under way share the next one, and one push to each list. With
 * nothing under way a job goes at once, so an idle system adds no wait. A row PostgreSQL refuses is only its own
 * request's problem: the others are sent again without it. So is a key that was taken meanwhile: that request
 * (undefined in the answer of `store`) goes with a later batch, until its deadline; one that goes elsewhere has a promise
 * in it. `store` reports each time the
 * database has answered one of its statements. Those that come back are ahead of those that came later; where many may
 * come back again and again, all of them have to take turns. Holders take turns in any case.
 *
 * @example
 * const line = createGroupCommit((submissions) => enqueueOnce(deps, submissions, options), database.timeout_ms, {
 *   holderOf: ({ tenant }) => tenant,
 * });
 */
export function createGroupCommit<Item, Outcome>(
  store: (items: readonly Item[], answered: () => void) => Promise<(Outcome | Promise<Outcome> | undefined)[]>,
  timeout_ms: number,
  {
    holderOf = () => "",
    rows_max = batch_rows_max,
    waiting_max = usual_waiting_max,
    flights_max = usual_flights_max,
    rest_ms_max = usual_rest_ms_max,
    takes_turns = false,
  }: GroupCommitOptions<Item> = {},
): GroupCommit<Item, Outcome> {
  type One = Request<Item, Outcome>;
  const waiting = createWaiting<One>();
  const room = createShares(waiting_max);
  const flying = new Set<One>();
  const resting = new Set<readonly One[]>();
  let flights = 0;
  let watch: NodeJS.Timeout | undefined;
  let answered_at = -Infinity;
  const answered = () => void (answered_at = performance.now());
  const idle: (() => void)[] = [];
  let given_up = false;

  const busy = () => flights > 0 || waiting.size() > 0 || resting.size > 0;
  const kick = () => {
    if (flights >= flights_max || waiting.size() === 0) return;
    flights += 1;
    // When idle, after this task: calls made in a row share the INSERT. When busy, after this turn of the event loop,
    // when more have come in.
    (flights === 1 ? queueMicrotask : setImmediate)(() => {
      const batch = waiting.take({ rows_max, bytes_max: batch_bytes_max });
      for (const one of batch) flying.add(one);
      void fly(batch).finally(() => {
        for (const one of batch) flying.delete(one);
        flights -= 1;
        kick();
        resolveIdle();
      });
    });
  };
  const resolveIdle = () => {
    if (!busy()) for (const resolve of idle.splice(0)) resolve();
  };

  const fly = async (batch: One[]): Promise<void> => {
    if (batch.length === 0) return;
    try {
      const outcomes = await store(
        batch.map((one) => one.item),
        answered,
      );
      const again: One[] = [];
      batch.forEach((one, at) => {
        const outcome = outcomes[at];
        // A caller that was rejected for being late does not hear of a later failure: it must not become an unhandled rejection.
        if (outcome instanceof Promise) outcome.catch(() => {});
        if (outcome) one.resolve(outcome);
        else again.push(one);
      });
      if (again.length > 0) comeBack(again);
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      // Sent again, jobs without keys that were stored after all would be stored twice.
      else if (isUnavailable(error) || outcomeUnknown(error)) for (const one of batch) one.reject(error);
      else for (const half of halves(batch)) await fly(half);
    }
  };

  /** Not at once: two processes that collided over a key would collide again. */
  const comeBack = (requests: readonly One[]) => {
    resting.add(requests);
    setTimeout(() => {
      resting.delete(requests);
      // Late ones too: `rejectLate` answers those, and it looks here.
      if (takes_turns) for (const one of requests) waiting.addLast(one);
      else waiting.addFirst(requests);
      rejectLate();
      kick();
      resolveIdle();
    }, rest_ms_max * Math.random());
  };

  /** No one waits longer than the deadline, however many INSERTs before theirs hang, unless the line moves. */
  const rejectLate = () => {
    const now = performance.now();
    const moves = now - answered_at < timeout_ms;
    const late = now - timeout_ms * (moves ? waits_max : 1);
    const isLate = (one: One) => one.at <= late;
    const isOver = (one: One) => given_up || isLate(one);
    const over = [...[...flying].filter(isLate), ...[...resting].flat().filter(isOver), ...waiting.remove(isOver)];
    for (const one of over) one.reject(new DatabaseTimeoutError(timeout_ms));
    if (busy()) return;
    clearInterval(watch);
    watch = undefined;
  };

  return {
    submit: (item, bytes, rows = 1) =>
      new Promise((resolve, reject) => {
        const holder = holderOf(item);
        const taken = room.take(holder, 1);
        if (taken !== "taken")
          return reject(certainlyNotApplied(new NoRoomError("jobs to be stored", taken === "share_full")));
        const leave = once(() => room.give(holder, 1));
        waiting.addLast({
          item,
          holder,
          bytes,
          rows,
          at: performance.now(),
          resolve(outcome) {
            leave();
            resolve(outcome);
          },
          reject(error) {
            leave();
            reject(error);
          },
        });
        watch ??= setInterval(rejectLate, watch_ms);
        kick();
      }),
    giveUp() {
      given_up = true;
      rejectLate();
      resolveIdle();
    },
    async idle() {
      if (busy()) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}

function halves<T>(items: T[]): [T[], T[]] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}
