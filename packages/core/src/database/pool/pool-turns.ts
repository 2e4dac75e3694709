import { createShares } from "@atlasqueue/contract";
import { NoRoomError } from "../../shares.ts";
import { onDeadline } from "../deadline.ts";
import { CallerGoneError, certainlyNotApplied, DatabaseTimeoutError } from "../errors.ts";
import { patienceLeft, type Pulse } from "../patience.ts";

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
  leave(tenant: string): void;
  /** How many wait. */
  waiting(): number;
};

/** More than the requests an API holds at once, each of which may send a few statements together. */
const waiting_max = 10_000;

/** Of so many connections one is left to what is sent for nobody, such as the submissions of all. */
const connections_per_nobodys = 8;

/** What waits for a tenant, in its order: first what is to go ahead of the rest. */
type Line = Record<Ahead | "rest", Set<() => void>>;
const newLine = (): Line => ({ lease: new Set(), room: new Set(), rest: new Set() });
const waitingIn = ({ lease, room, rest }: Line): number => lease.size + room.size + rest.size;

/** Who is next in a line. */
function nextOf(line: Line): { first: (() => void) | undefined; ahead: Ahead | undefined } {
  const ahead = line.lease.size > 0 ? "lease" : line.room.size > 0 ? "room" : undefined;
  const [first] = line[ahead ?? "rest"];
  return { first, ahead };
}

/** Whether somebody in a line is to go before whoever comes now. */
function isBefore(line: Line, ahead: Ahead | undefined): boolean {
  if (ahead === undefined) return waitingIn(line) > 0;
  return line.lease.size > 0 || (ahead === "room" && line.room.size > 0);
}

/**
 * The turns of a pool of so many connections. Each tenant's statements wait in their order and tenants take turns, and
 * none has more than its share of the connections (see `createShares`): the next tenant finds one free, even if no
 * statement of a greedy one ever ends. Of its share a tenant's slow statements leave a connection to what goes ahead.
 *
 * @example
 * const turns = createPoolTurns(10);
 * if (!turns.enter({ tenant })) await turns.wait({ tenant }, { began_at, timeout_ms, pulse });
 */
export function createPoolTurns(connections_max: number): PoolTurns {
  const seats = createShares(connections_max);
  const seated_max = connections_max - Math.floor(connections_max / connections_per_nobodys);
  let seated = 0;
  const seatedOf = new Map<string, number>();
  const room = createShares(waiting_max);
  /** Each tenant's. None is empty, and those whose turn is over are last. */
  const lines = new Map<string, Line>();
  let waiting = 0;

  const sit = (tenant: string, ahead: Ahead | undefined): "taken" | "share_full" | "full" => {
    if (seated >= seated_max) return "full";
    const own = seatedOf.get(tenant) ?? 0;
    // The last of its share is for what goes ahead, but where that is the only one.
    const wanted = ahead || own === 0 ? 1 : 2;
    const taken = seats.take(tenant, wanted);
    if (taken !== "taken") return wanted === 1 ? taken : "share_full";
    if (wanted > 1) seats.give(tenant, wanted - 1);
    seatedOf.set(tenant, own + 1);
    seated += 1;
    return taken;
  };
  const out = (tenant: string, begin: () => void): void => {
    const line = lines.get(tenant);
    if (!line?.lease.delete(begin) && !line?.room.delete(begin) && !line?.rest.delete(begin)) return;
    waiting -= 1;
    room.give(tenant, 1);
    if (waitingIn(line) === 0) lines.delete(tenant);
  };
  const letIn = (): void => {
    for (const [tenant, line] of lines) {
      const { first, ahead } = nextOf(line);
      const taken = sit(tenant, ahead);
      if (taken === "full") return;
      if (taken === "share_full" || !first) continue;
      // Once more in this very round, if there is room for all that wait.
      lines.delete(tenant);
      lines.set(tenant, line);
      out(tenant, first);
      first();
    }
  };

  return {
    enter({ tenant, ahead }) {
      const line = lines.get(tenant);
      return (line === undefined || !isBefore(line, ahead)) && sit(tenant, ahead) === "taken";
    },
    wait: ({ tenant, gone, ahead }, { began_at, timeout_ms, pulse }) =>
      new Promise((resolve, reject) => {
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
          const left_ms = patienceLeft(waits, pulse, performance.now());
          if (left_ms <= 0) return giveUp(new DatabaseTimeoutError(timeout_ms, "not_applied"));
          stopTimer = onDeadline(left_ms, () => 0, look);
        };
        const line = lines.get(tenant) ?? newLine();
        lines.set(tenant, line);
        line[ahead ?? "rest"].add(begin);
        waiting += 1;
        look();
        left?.addEventListener("abort", hangUp, { once: true });
        if (left?.aborted) hangUp();
      }),
    leave(tenant) {
      seats.give(tenant, 1);
      const own = (seatedOf.get(tenant) ?? 0) - 1;
      if (own > 0) seatedOf.set(tenant, own);
      else seatedOf.delete(tenant);
      seated -= 1;
      if (waiting > 0) letIn();
    },
    waiting: () => waiting,
  };
}
