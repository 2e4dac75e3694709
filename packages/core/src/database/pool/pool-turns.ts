import { createShares } from "@atlasqueue/contract";
import { NoRoomError } from "../../shares.ts";
import { onDeadline } from "../deadline.ts";
import { CallerGoneError, certainlyNotApplied, DatabaseTimeoutError } from "../errors.ts";
import { patienceLeft, unsent, type Pulse } from "../patience.ts";
import { createLine, type Line } from "./line.ts";

/**
 * What goes ahead of its tenant's other statements: what a lease hangs on, which may end meanwhile; then what has room
 * that other tenants wait for, which may not wait for what has none.
 */
export type Ahead = "lease" | "room";

/** For whom statements are sent. */
export type Sender = {
  tenant: string;
  ahead?: Ahead | undefined;
  /** Only asked for, and only minded, while one waits for its turn. */
  gone?: (() => AbortSignal) | undefined;
};

/** Of a statement that waits since `began_at`, by `performance.now()`. */
type Terms = { began_at: number; timeout_ms: number; pulse: Pulse };

/** Whose statement has a connection next. */
export type PoolTurns = {
  /** True when it may be sent at once; otherwise `wait`. Call `leave` when it is done. */
  enter(sender: Sender): boolean;
  /** Resolves when it may be sent: call `leave` when it is done. Rejects if it never will be. */
  wait(sender: Sender, terms: Terms): Promise<void>;
  leave(sender: Sender): void;
  /** How many wait. */
  waiting(): number;
};

/** More than the requests an API holds at once, each of which may send a few statements together. */
const waiting_max = 10_000;

/** Of so many connections one is left to what is sent for nobody, such as the submissions of all. */
const connections_per_nobodys = 8;

/** What waits for a tenant; the rest comes last. */
const classes = ["lease", "room", "rest"] as const;
type Class = (typeof classes)[number];
const classOf = ({ ahead }: Sender): Class => ahead ?? "rest";

/**
 * The turns of a pool of so many connections. Each tenant's statements wait in their order and tenants take turns, and
 * none has more than its share of the connections (see `createShares`): the next tenant finds one free, even if no
 * statement of a greedy one ever ends. Of its share a tenant's slow statements leave a connection to what goes ahead, and
 * what goes ahead leaves them every fourth turn.
 *
 * @example
 * const turns = createPoolTurns(10);
 * if (!turns.enter({ tenant })) await turns.wait({ tenant }, { began_at, timeout_ms, pulse });
 */
export function createPoolTurns(connections_max: number): PoolTurns {
  const seats = createShares(connections_max);
  const seated_max = connections_max - Math.floor(connections_max / connections_per_nobodys);
  let seated = 0;
  /** Each tenant's: all, and those of the rest. */
  const seatedOf = new Map<string, { all: number; rest: number }>();
  const room = createShares(waiting_max);
  /** Each tenant's. None is empty, and those whose turn is over are last. */
  const lines = new Map<string, Line<Class, () => void>>();
  let waiting = 0;

  const sit = (tenant: string, of: Class): "taken" | "share_full" | "full" => {
    if (seated >= seated_max) return "full";
    const own = seatedOf.get(tenant) ?? { all: 0, rest: 0 };
    // One of its share is for what goes ahead, but where that is the only one.
    const leaves = of === "rest" && own.all > 0 && own.rest === own.all ? 1 : 0;
    const taken = seats.take(tenant, 1 + leaves);
    if (taken !== "taken") return leaves === 0 ? taken : "share_full";
    seats.give(tenant, leaves);
    seatedOf.set(tenant, { all: own.all + 1, rest: own.rest + (of === "rest" ? 1 : 0) });
    seated += 1;
    return taken;
  };
  const out = (tenant: string, begin: () => void): void => {
    const line = lines.get(tenant);
    if (!line?.delete(begin)) return;
    waiting -= 1;
    room.give(tenant, 1);
    if (line.size() === 0) lines.delete(tenant);
  };
  const letIn = (): void => {
    for (const [tenant, line] of lines) {
      let next = line.next();
      let taken = next ? sit(tenant, next.of) : "share_full";
      if (taken === "share_full" && next?.of === "rest") {
        // The one left is for what goes ahead.
        next = line.next("rest");
        taken = next ? sit(tenant, next.of) : "share_full";
      }
      if (taken === "full") return;
      if (taken === "share_full" || !next) continue;
      // Once more in this very round, if there is room for all that wait.
      lines.delete(tenant);
      lines.set(tenant, line);
      out(tenant, next.one);
      line.took(next.of);
      next.one();
    }
  };

  return {
    enter(sender) {
      const of = classOf(sender);
      return lines.get(sender.tenant)?.isBefore(of) !== true && sit(sender.tenant, of) === "taken";
    },
    wait: (sender, { began_at, timeout_ms, pulse }) =>
      new Promise((resolve, reject) => {
        const { tenant, gone } = sender;
        const taken = room.take(tenant, 1);
        if (taken !== "taken") {
          const full = new NoRoomError("statements that wait for a connection", taken === "share_full");
          return reject(certainlyNotApplied(full));
        }
        const left = gone?.();
        const stop = (): void => {
          stopTimer();
          left?.removeEventListener("abort", hangUp);
        };
        const begin = (): void => {
          stop();
          resolve();
        };
        const giveUp = (error: Error): void => {
          stop();
          out(tenant, begin);
          reject(error);
        };
        const hangUp = () => giveUp(new CallerGoneError());
        let stopTimer = () => {};
        const look = (): void => {
          const waits = { began_at, sent_at: undefined, timeout_ms };
          const now = performance.now();
          const left_ms = patienceLeft(waits, pulse, now);
          if (left_ms <= 0) return giveUp(new DatabaseTimeoutError(timeout_ms, unsent(waits, pulse, now)));
          stopTimer = onDeadline(left_ms, () => 0, look);
        };
        const line = lines.get(tenant) ?? createLine<Class, () => void>(classes);
        lines.set(tenant, line);
        line.add(classOf(sender), begin);
        waiting += 1;
        look();
        left?.addEventListener("abort", hangUp, { once: true });
        if (left?.aborted) hangUp();
      }),
    leave(sender) {
      const { tenant } = sender;
      seats.give(tenant, 1);
      const { all, rest } = seatedOf.get(tenant) ?? { all: 1, rest: 0 };
      if (all > 1) seatedOf.set(tenant, { all: all - 1, rest: rest - (classOf(sender) === "rest" ? 1 : 0) });
      else seatedOf.delete(tenant);
      seated -= 1;
      if (waiting > 0) letIn();
    },
    waiting: () => waiting,
  };
}
