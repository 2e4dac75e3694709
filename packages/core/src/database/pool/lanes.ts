import { onDeadline } from "../deadline.ts";
import { DatabaseTimeoutError } from "../errors.ts";
import { patienceLeft, type Pulse } from "../patience.ts";

/** Connections that statements of one kind leave to all others; of few, one. */
const left_to_others = 2;
const few = 3;

/** Kinds known to be held up; the first met makes room. */
const held_up_kinds_max = 1_000;

/** What a statement takes up while it is under way. Each is called once. */
export type Place = {
  /** It is over on the server as well. */
  leave(): void;
  /** It was not answered by its deadline, though the server was there. */
  heldUp(): void;
  answered(): void;
};

export type Lanes = {
  /** Undefined when it has to wait. With `shared` something else bounds the kind, unless it is held up. */
  tryEnter(kind: string, how?: { shared: boolean }): Place | undefined;
  /** Rejects when there is no room in time (see `patienceLeft`); then nothing was sent. */
  enter(kind: string, timeout_ms: number): Promise<Place>;
  /** How many wait. */
  waiting(): number;
};

type Lane = { running: number; max: number; waiting: ((place: Place) => void)[] };

/**
 * Bounds how many connections of a pool statements of one kind take up, so that some are left for all others: somebody
 * may have locked a table that only they need, and otherwise they would fill the pool, one after another, each until
 * its deadline, and no lease would be renewed meanwhile. Those that are known to be held up share one half, however
 * many kinds they are, until one of the kind is answered. A kind is anything that is the same for statements that need
 * the same, as their text is.
 *
 * @example
 * const lanes = createLanes(10, pulse);
 * const place = lanes.tryEnter(text) ?? (await lanes.enter(text, 10_000));
 */
export function createLanes(connections_max: number, pulse: Pulse): Lanes {
  const lane_max = Math.max(1, connections_max - (connections_max > few ? left_to_others : 1));
  const held_up_max = Math.max(1, connections_max >> 1);
  const lanes = new Map<string, Lane>();
  /** The next to have a turn is first. */
  const held_up = new Set<string>();
  let waiting = 0;

  const laneOf = (kind: string): Lane => {
    let lane = lanes.get(kind);
    if (!lane) lanes.set(kind, (lane = { running: 0, max: lane_max, waiting: [] }));
    return lane;
  };
  const runningHeldUp = (): number => {
    let running = 0;
    for (const kind of held_up) running += lanes.get(kind)?.running ?? 0;
    return running;
  };
  const hasRoom = (kind: string, { running, max }: Lane): boolean =>
    running < max && (!held_up.has(kind) || runningHeldUp() < held_up_max);

  /** Lets in those that wait and may. */
  const advance = (kind: string): boolean => {
    const lane = lanes.get(kind);
    let any = false;
    while (lane && lane.waiting.length > 0 && hasRoom(kind, lane)) {
      any = true;
      waiting -= 1;
      lane.waiting.shift()?.(placeIn(kind, lane));
    }
    if (lane?.running === 0 && lane.waiting.length === 0) lanes.delete(kind);
    return any;
  };
  const advanceHeldUp = (): void => {
    const all = Array.from(held_up);
    for (const kind of all)
      if (advance(kind)) {
        held_up.delete(kind);
        held_up.add(kind);
      }
  };

  const placeIn = (kind: string, lane: Lane): Place => {
    lane.running += 1;
    return {
      leave() {
        lane.running -= 1;
        if (held_up.has(kind)) advanceHeldUp();
        advance(kind);
      },
      heldUp() {
        held_up.add(kind);
        const [first] = held_up;
        if (held_up.size > held_up_kinds_max && first !== undefined) held_up.delete(first);
      },
      answered() {
        if (!held_up.delete(kind)) return;
        advance(kind);
        advanceHeldUp();
      },
    };
  };

  return {
    tryEnter(kind, { shared } = { shared: false }) {
      const lane = laneOf(kind);
      if (shared) lane.max = Infinity;
      return lane.waiting.length === 0 && hasRoom(kind, lane) ? placeIn(kind, lane) : undefined;
    },
    enter(kind, timeout_ms) {
      const lane = laneOf(kind);
      const began_at = performance.now();
      return new Promise((resolve, reject) => {
        let stop: () => void = () => {};
        const letIn = (place: Place): void => {
          stop();
          resolve(place);
        };
        const late = (): void => {
          const left_ms = patienceLeft({ began_at, sent_at: undefined, timeout_ms }, pulse, performance.now());
          if (left_ms > 0) return allow(left_ms);
          lane.waiting.splice(lane.waiting.indexOf(letIn), 1);
          waiting -= 1;
          advance(kind);
          reject(new DatabaseTimeoutError(timeout_ms, "not_applied"));
        };
        const allow = (ms: number): void => void (stop = onDeadline(ms, () => 0, late));
        lane.waiting.push(letIn);
        waiting += 1;
        allow(timeout_ms);
      });
    },
    waiting: () => waiting,
  };
}
