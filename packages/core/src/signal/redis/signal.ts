import type { QueueRef } from "../../deps.ts";
import { parseRedisUrl } from "./address.ts";
import { defaultKeys, nonceKey, queueKeys, turnKey, type SignalKeys } from "../keys.ts";
import { redisDeadLetters } from "./dead-letters.ts";
import { redisLink, type RedisLink } from "./link.ts";
import { redisNotices } from "./notices.ts";
import { redisPermits } from "./permits.ts";
import { redisPresence } from "./presence.ts";
import { signals_max, type ReadyJob, type Signal, type Taken } from "../signal.ts";
import type { RedisTls } from "./dial.ts";
import { redisWait } from "./wait.ts";

export type RedisSignalOptions = {
  /** `redis://`, `redis+sentinel://…/name` or `redis+cluster://`, or the same with `rediss`. */
  url: string;
  /** For `rediss`. */
  tls?: RedisTls | undefined;
  /** Default: `atlasqueue:jobs` and `atlasqueue:dlq`, as in our programs. */
  keys?: SignalKeys;
  /** A command that has not answered by then has failed. Default 250. */
  timeoutMs?: number;
  /** Ids in one list at most. Default 1,000,000. */
  signalsMax?: number | undefined;
};

const timeout_ms_default = 250;
const push_ids_max = 1_000;
/** Of so many queues ids are taken without a look at whether they have any: mostly the first has enough. */
const taken_untried = 2;
/** How many of the others are looked at in one round trip: few at first, as they mostly have enough, then twice as many. */
const looked_at = { first: 16, max: 512 };

/**
 * Signals through Redis lists. Never waits for a Redis that is away: commands fail at once while the connection is down
 * or was late a moment ago, otherwise after `timeoutMs` (250). It reconnects by itself when the connection ends, when
 * nothing is answered, and when the server takes no writes (`link.ts`). Throws `RedisUrlError`.
 *
 * @example
 * const signal = redisSignal({ url: "redis://localhost:6379", keys: defaultKeys });
 */
export const redisSignal = (options: RedisSignalOptions): Signal => signalOver(dialled(options), options);

/**
 * The same for the cells of a process: those of one Redis share its connection for commands, and what is known about it. In a
 * cluster a cell's names decide which servers are watched, so nothing is shared.
 */
export function redisSignals(): typeof redisSignal {
  const shared = new Map<string, { link: RedisLink; users: Set<symbol> }>();
  return (options) => {
    const { url, tls, timeoutMs, keys = defaultKeys } = options;
    if (parseRedisUrl(url).kind === "cluster") return redisSignal(options);
    const name = JSON.stringify([url, tls, timeoutMs]);
    const { link, users } = shared.get(name) ?? { link: dialled(options), users: new Set() };
    const user = Symbol();
    shared.set(name, { link, users: users.add(user) });
    const close = (): void => {
      if (!users.delete(user) || users.size > 0) return;
      shared.delete(name);
      link.close();
    };
    return signalOver({ ...link, keys, close }, options);
  };
}

const dialled = ({ url, tls, keys = defaultKeys, timeoutMs: timeout_ms = timeout_ms_default }: RedisSignalOptions) =>
  redisLink({ to: parseRedisUrl(url), tls, keys, timeout_ms });

function signalOver(link: RedisLink, options: RedisSignalOptions): Signal {
  const { timeoutMs: timeout_ms = timeout_ms_default, signalsMax = signals_max } = options;
  const { commands, available, keys } = link;
  const nonce = nonceKey(keys);

  const pushTo = (queue: QueueRef, jobs: readonly ReadyJob[], front: boolean): Promise<number> => {
    const { list, priorities, overflow } = queueKeys(keys, queue);
    const plain = jobs.filter((job) => job.priority === 0).map((job) => job.id);
    const prioritised = jobs.filter((job) => job.priority !== 0).flatMap((job) => [-job.priority, job.id]);
    return available(list, () =>
      front
        ? commands.signalPushFront(list, priorities, overflow, plain.length, ...plain.toReversed(), ...prioritised)
        : commands.signalPush(list, priorities, overflow, signalsMax, plain.length, ...plain, ...prioritised),
    );
  };

  const pushAll = async (jobs: readonly ReadyJob[], front: boolean): Promise<number> => {
    const pushes: ReadyJob[][] = [];
    for (const group of Map.groupBy(jobs, (job) => queueKeys(keys, job).list).values())
      for (let at = 0; at < group.length; at += push_ids_max) pushes.push(group.slice(at, at + push_ids_max));
    // The part to be handed out first is pushed to the front last.
    if (front) pushes.reverse();
    const counts = await Promise.all(pushes.map((part) => pushTo(part[0] as ReadyJob, part, front)));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  const takeFrom = (queue: QueueRef, ids_max: number): Promise<string[]> => {
    const { list, priorities } = queueKeys(keys, queue);
    return available(list, () => commands.signalTake(list, priorities, ids_max));
  };
  /** Those with ids. One round trip for all of them. */
  const filledOf = async (queues: readonly QueueRef[]): Promise<QueueRef[]> => {
    // In both: the mark that the list has while only the set has ids may have been taken by a wait.
    const asked = queues.map((queue) => {
      const { list, priorities } = queueKeys(keys, queue);
      return available(list, () => commands.exists(list, priorities));
    });
    const filled = await Promise.all(asked);
    return queues.filter((_, at) => filled[at] !== 0);
  };
  const take = async (queues: readonly QueueRef[], ids_max: number): Promise<Taken> => {
    const taken: Taken = { ids: [], from: [] };
    const takeAll = async (some: readonly QueueRef[]): Promise<void> => {
      for (const queue of some) {
        if (taken.ids.length >= ids_max) return;
        const ids = await takeFrom(queue, ids_max - taken.ids.length);
        if (ids.length > 0) taken.from.push(queue);
        taken.ids.push(...ids);
      }
    };
    await takeAll(queues.slice(0, taken_untried));
    for (let at = taken_untried, looked = looked_at.first; at < queues.length && taken.ids.length < ids_max;) {
      await takeAll(await filledOf(queues.slice(at, at + looked)));
      at += looked;
      looked = Math.min(looked * 2, looked_at.max);
    }
    return taken;
  };

  return {
    heard: true,
    push: (jobs) => pushAll(jobs, false),
    pushFront: (jobs) => pushAll(jobs, true),
    async setMarked(queue, marked) {
      const { list, priorities, overflow } = queueKeys(keys, queue);
      await available(list, () => commands.signalSetMarked(list, priorities, overflow, marked ? 1 : 0));
    },
    take,
    wait: redisWait(link, timeout_ms),
    async look(queue) {
      const { list, priorities, overflow } = queueKeys(keys, queue);
      const [length, prioritised, next, why] = await available(list, () =>
        Promise.all([
          commands.llen(list),
          commands.zcard(priorities),
          commands.lindex(list, -1),
          commands.get(overflow),
        ]),
      );
      const marked = why === "mark";
      return {
        length: length + prioritised,
        next: next ?? undefined,
        overflowed: why !== null && !marked,
        marked,
      };
    },
    async takeTurn(name, period_ms) {
      const key = turnKey(keys, name);
      return (await available(key, () => commands.signalTurn(key, Math.ceil(period_ms)))) === 1;
    },
    takePermits: redisPermits(commands, keys, available),
    deadLetters: redisDeadLetters(commands, keys, available),
    notices: redisNotices(link),
    presence: redisPresence(commands, keys, available),
    nonce: {
      read: async () => (await available(nonce, () => commands.get(nonce))) ?? undefined,
      write: async (nonces, lasts_ms) =>
        void (await available(nonce, () => commands.signalNonce(nonce, Math.ceil(lasts_ms), ...nonces))),
    },
    state: link.state,
    check: link.probe,
    async close() {
      link.close();
    },
  };
}
