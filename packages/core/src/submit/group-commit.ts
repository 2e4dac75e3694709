import { DatabaseTimeoutError, isUnavailable, outcomeUnknown } from "../database/errors.ts";
import { waits_max } from "../database/patience.ts";

/** The most rows and payload bytes in one INSERT. */
const batch_rows_max = 500;
const batch_bytes_max = 4 * 1_048_576;
/** INSERTs under way at once: while one waits for the disk, the next is made. */
const flights_max = 2;
/** The most requests that wait; beyond that the database is not keeping up, and waiting would only end in a timeout. */
const waiting_max = 20_000;
const watch_ms = 100;
/** The longest (random) rest before a request whose keys were taken meanwhile is tried again. */
const rest_ms_max = 20;

export type GroupCommit<Item, Outcome> = {
  /**
   * Resolves when the item is durable; rejects when it cannot be, or when that is unknown by the deadline. While the
   * database keeps answering others in line, that is three deadlines away. `rows` is how many jobs it has.
   */
  submit(item: Item, bytes: number, rows?: number): Promise<Outcome>;
  /** Resolves when everything submitted has been answered. */
  idle(): Promise<void>;
};

type Request<Item, Outcome> = {
  item: Item;
  bytes: number;
  rows: number;
  at: number;
  resolve(outcome: Outcome | Promise<Outcome>): void;
  reject(error: unknown): void;
};

/**
 * Group commit: jobs, or flows of them, that come in while an INSERT is under way share the next one, and one push to each list. With
 * nothing under way a job goes at once, so an idle system adds no wait. A row PostgreSQL refuses is only its own
 * request's problem: the others are sent again without it. So is a key that was taken meanwhile: that request
 * (undefined in the answer of `store`) goes with a later batch, until its deadline; one that goes elsewhere has a promise
 * in it. `store` reports each time the
 * database has answered one of its statements. Those that come back are ahead of those that came later; where many may
 * come back again and again, all of them have to take turns.
 *
 * @example
 * const line = createGroupCommit((submissions) => enqueueOnce(deps, submissions, options), database.timeout_ms);
 */
export function createGroupCommit<Item, Outcome>(
  store: (items: readonly Item[], answered: () => void) => Promise<(Outcome | Promise<Outcome> | undefined)[]>,
  timeout_ms: number,
  { rows_max = batch_rows_max, takes_turns = false }: { rows_max?: number; takes_turns?: boolean } = {},
): GroupCommit<Item, Outcome> {
  type One = Request<Item, Outcome>;
  const waiting: One[] = [];
  const flying = new Set<One>();
  const resting = new Set<readonly One[]>();
  let flights = 0;
  let watch: NodeJS.Timeout | undefined;
  let answered_at = -Infinity;
  const answered = () => void (answered_at = performance.now());
  const idle: (() => void)[] = [];

  const busy = () => flights > 0 || waiting.length > 0 || resting.size > 0;
  const kick = () => {
    if (flights >= flights_max || waiting.length === 0) return;
    flights += 1;
    // When idle, after this task: calls made in a row share the INSERT. When busy, after this turn of the event loop,
    // when more have come in.
    (flights === 1 ? queueMicrotask : setImmediate)(() => {
      const batch = takeBatch(waiting, rows_max);
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
      if (takes_turns) waiting.push(...requests);
      else waiting.unshift(...requests);
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
    for (const one of [...flying, ...[...resting].flat()])
      if (isLate(one)) one.reject(new DatabaseTimeoutError(timeout_ms));
    if (waiting.some(isLate))
      for (const one of waiting.splice(0))
        if (isLate(one)) one.reject(new DatabaseTimeoutError(timeout_ms));
        else waiting.push(one);
    if (busy()) return;
    clearInterval(watch);
    watch = undefined;
  };

  return {
    submit: (item, bytes, rows = 1) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= waiting_max) return reject(new DatabaseTimeoutError(timeout_ms));
        waiting.push({ item, bytes, rows, at: performance.now(), resolve, reject });
        watch ??= setInterval(rejectLate, watch_ms);
        kick();
      }),
    async idle() {
      if (busy()) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
}

function takeBatch<One extends { bytes: number; rows: number }>(waiting: One[], rows_max: number): One[] {
  let rows = 0;
  let bytes = 0;
  const rest = waiting.findIndex((one, at) => {
    rows += one.rows;
    bytes += one.bytes;
    return at > 0 && (rows > rows_max || bytes > batch_bytes_max);
  });
  return waiting.splice(0, rest === -1 ? waiting.length : rest);
}

function halves<T>(items: T[]): [T[], T[]] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}
