import { createShares } from "@atlasqueue/contract";
import {
  certainlyNotApplied,
  DatabaseTimeoutError,
  isLocked,
  isUnavailable,
  outcomeUnknown,
} from "../database/errors.ts";
import { waits_max } from "../database/patience.ts";
import { isTakenMeanwhile } from "../database/clauses.ts";
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
/** The longest (random) rest before a request that met another's lock or key comes again. */
const rest_ms_max = 20;

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
  /** It has its answer. */
  over: boolean;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
};

export type GroupCommitOptions<Item> = {
  /** Whose request it is. */
  holderOf?: (item: Item) => string;
  rows_max?: number;
  waiting_max?: number;
  flights_max?: number;
};

/**
 * Stores items in one statement, all or none of those it has an outcome for; undefined are those whose keys were taken
 * meanwhile. With `postponed` it locks no group.
 */
type Store<Item, Outcome> = (items: readonly Item[], how: { postponed: boolean }) => Promise<(Outcome | undefined)[]>;

/**
 * Group commit: jobs, or flows of them, that come in while an INSERT is under way share the next one, and one push to each
 * list. With nothing under way a job goes at once, so an idle system adds no wait. Holders take turns.
 *
 * One rule for all that PostgreSQL refuses (a lock that another transaction keeps, a key that was taken meanwhile, a row
 * that cannot be stored): the batch is sent again in two halves, and a half that is refused one by one. So a request that is
 * refused alone fails alone; one that met a lock or a taken key comes again with a later batch, until its deadline. After a
 * lock, groups are `postponed`.
 *
 * @example
 * const line = createGroupCommit((submissions) => enqueueOnce(execute, deps, submissions, options), database.timeout_ms, {
 *   holderOf: ({ tenant }) => tenant,
 * });
 */
export function createGroupCommit<Item, Outcome>(
  store: Store<Item, Outcome>,
  timeout_ms: number,
  {
    holderOf = () => "",
    rows_max = batch_rows_max,
    waiting_max = usual_waiting_max,
    flights_max = usual_flights_max,
  }: GroupCommitOptions<Item> = {},
): GroupCommit<Item, Outcome> {
  type One = Request<Item, Outcome>;
  const waiting = createWaiting<One>();
  const room = createShares(waiting_max);
  // Not sets of requests: one that thousands enter and leave a second keeps many until the next full garbage collection.
  const flying: One[][] = [];
  const resting = new Set<One>();
  let watch: NodeJS.Timeout | undefined;
  let answered_at = -Infinity;
  const idle: (() => void)[] = [];
  let given_up = false;

  const busy = () => flying.length > 0 || waiting.size() > 0 || resting.size > 0;
  const kick = () => {
    if (flying.length >= flights_max || waiting.size() === 0) return;
    const batch: One[] = [];
    flying.push(batch);
    // When idle, after this task: calls made in a row share the INSERT. When busy, after this turn of the event loop,
    // when more have come in.
    (flying.length === 1 ? queueMicrotask : setImmediate)(() => {
      batch.push(...waiting.take({ rows_max, bytes_max: batch_bytes_max }));
      void fly(batch).finally(() => {
        flying.splice(flying.indexOf(batch), 1);
        kick();
        resolveIdle();
      });
    });
  };
  const resolveIdle = () => {
    if (!busy()) for (const resolve of idle.splice(0)) resolve();
  };

  /** Sends them in one statement. Its refusal, if there was one: nothing of them is stored then. */
  const send = async (batch: readonly One[], postponed: boolean): Promise<{ why: unknown } | undefined> => {
    try {
      const items = batch.map((one) => one.item);
      const outcomes = await store(items, { postponed });
      answered_at = performance.now();
      for (const [at, one] of batch.entries()) {
        const outcome = outcomes[at];
        if (outcome) one.resolve(outcome);
        else comeBack(one);
      }
    } catch (error) {
      // Sent again, jobs without keys that were stored after all would be stored twice.
      if (!isLocked(error) && (isUnavailable(error) || outcomeUnknown(error)))
        for (const one of batch) one.reject(error);
      else {
        answered_at = performance.now();
        return { why: error };
      }
    }
    return undefined;
  };
  const refuse = (one: One, why: unknown): void => {
    if (isLocked(why) || isTakenMeanwhile(why)) comeBack(one);
    else one.reject(why);
  };
  const fly = async (batch: readonly One[]): Promise<void> => {
    const refusal = batch.length > 0 ? await send(batch, false) : undefined;
    if (!refusal) return;
    const [only] = batch;
    if (only && batch.length === 1 && !isLocked(refusal.why)) return refuse(only, refusal.why);
    for (const part of batch.length === 1 ? [batch] : halves(batch)) {
      const again = await send(part, isLocked(refusal.why));
      for (const one of again ? part : []) {
        const alone = part.length === 1 || one.over ? again : await send([one], isLocked(refusal.why));
        if (alone) refuse(one, alone.why);
      }
    }
  };

  /** Not at once: two processes that collided over a key would collide again. */
  const comeBack = (one: One) => {
    if (one.over) return;
    resting.add(one);
    setTimeout(() => {
      resting.delete(one);
      // A late one too: `rejectLate` answers it, and it looks here.
      waiting.addLast(one);
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
    const over = [...flying.flat().filter(isLate), ...[...resting].filter(isOver), ...waiting.remove(isOver)];
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
        const answer = (tell: () => void): void => {
          if (!one.over) room.give(holder, 1);
          one.over = true;
          tell();
        };
        const one: One = {
          item,
          holder,
          bytes,
          rows,
          at: performance.now(),
          over: false,
          resolve: (outcome) => answer(() => resolve(outcome)),
          reject: (error) => answer(() => reject(error as Error)),
        };
        waiting.addLast(one);
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

function halves<T>(items: readonly T[]): [T[], T[]] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}
