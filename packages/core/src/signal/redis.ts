import { Redis, ReplyError } from "ioredis";
import type { QueueRef } from "../deps.ts";
import { queueKeys, turnKey, type SignalKeys } from "./keys.ts";
import { ready, unavailable, type Available } from "./available.ts";
import { blockingConnection, type BlockingConnection } from "./blocking-connection.ts";
import { redisDeadLetters } from "./redis-dead-letters.ts";
import { redisNotices } from "./redis-notices.ts";
import { redisPermits } from "./redis-permits.ts";
import { redisPresence } from "./redis-presence.ts";
import { scripts, type ScriptedRedis } from "./redis-scripts.ts";
import { SignalUnavailableError, signals_max, type ReadyJob, type Signal, type Woken } from "./signal.ts";

export type RedisSignalOptions = {
  url: string;
  keys: SignalKeys;
  /** A command that has not answered by then has failed. */
  timeout_ms?: number;
  /** Ids in one list at most. */
  signals_max?: number;
};

const push_ids_max = 1_000;
/** After a command was late: for so long none is tried, so that not every caller waits for the deadline in turn. */
const rest_after_failure_ms = 500;

/**
 * Signals through Redis lists. Never waits for a Redis that is away: commands fail at once while the connection is
 * down or was late a moment ago, after `timeout_ms` (250) otherwise, and it reconnects by itself.
 *
 * @example
 * const signal = redisSignal({ url: "redis://localhost:6379", keys: defaultKeys });
 */
export function redisSignal(options: RedisSignalOptions): Signal {
  const { keys } = options;
  const list_length_max = options.signals_max ?? signals_max;
  const commands = connect(options.url, options.timeout_ms ?? 250);
  // A second connection, as a blocking pop holds up whatever is sent behind it; opened by the first wait.
  let blocking: BlockingConnection | undefined;

  const timeout_ms = options.timeout_ms ?? 250;
  let resting_until = -Infinity;
  // The first commands wait for the first connection, as long as they would for an answer.
  let opening: Promise<void> | undefined = ready(commands, timeout_ms, new AbortController().signal)
    .catch(() => {})
    .then(() => void (opening = undefined));
  const available: Available = async (command) => {
    await opening;
    if (performance.now() < resting_until) throw new SignalUnavailableError("Redis did not answer a moment ago");
    try {
      return await command();
    } catch (error) {
      // An answer, if a bad one (somebody put another type under our key): the others' commands are not in danger.
      if (!(error instanceof ReplyError)) resting_until = performance.now() + rest_after_failure_ms;
      throw unavailable(error);
    }
  };

  const pushTo = (queue: QueueRef, jobs: readonly ReadyJob[], front: boolean): Promise<number> => {
    const { list, priorities, overflow } = queueKeys(keys, queue);
    const plain = jobs.filter((job) => job.priority === 0).map((job) => job.id);
    const prioritised = jobs.filter((job) => job.priority !== 0).flatMap((job) => [-job.priority, job.id]);
    return front
      ? commands.signalPushFront(list, priorities, plain.length, ...plain.toReversed(), ...prioritised)
      : commands.signalPush(list, priorities, overflow, list_length_max, plain.length, ...plain, ...prioritised);
  };

  const pushAll = async (jobs: readonly ReadyJob[], front: boolean): Promise<number> => {
    const pushes: ReadyJob[][] = [];
    for (const group of Map.groupBy(jobs, (job) => queueKeys(keys, job).list).values())
      for (let at = 0; at < group.length; at += push_ids_max) pushes.push(group.slice(at, at + push_ids_max));
    // The part to be handed out first is pushed to the front last.
    if (front) pushes.reverse();
    const counts = await available(() => Promise.all(pushes.map((part) => pushTo(part[0] as ReadyJob, part, front))));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  const take = async (queues: readonly QueueRef[], ids_max: number): Promise<string[]> => {
    const ids: string[] = [];
    for (const queue of queues) {
      if (ids.length >= ids_max) break;
      const { list, priorities } = queueKeys(keys, queue);
      ids.push(...(await available(() => commands.signalTake(list, priorities, ids_max - ids.length))));
    }
    return ids;
  };

  const wait = async (queues: readonly QueueRef[], wait_ms: number, stop: AbortSignal): Promise<Woken | undefined> => {
    blocking ??= blockingConnection(connect(options.url), commands);
    const byList = new Map(queues.map((queue) => [queueKeys(keys, queue).list, queue]));
    const popped = await blocking.pop([...byList.keys()], wait_ms, stop);
    const queue = popped && byList.get(popped[0]);
    return queue && { queue, id: popped[1] };
  };

  const notices = redisNotices(commands, () => connect(options.url), keys, available);

  return {
    heard: true,
    push: (jobs) => pushAll(jobs, false),
    pushFront: (jobs) => pushAll(jobs, true),
    take,
    wait,
    async look(queue) {
      const { list, priorities, overflow: flag } = queueKeys(keys, queue);
      const [length, prioritised, next, overflowed] = await available(() =>
        Promise.all([
          commands.llen(list),
          commands.zcard(priorities),
          commands.lindex(list, -1),
          commands.exists(flag),
        ]),
      );
      return { length: length + prioritised, next: next ?? undefined, overflowed: overflowed === 1 };
    },
    async endOverflow(queue) {
      await available(() => commands.del(queueKeys(keys, queue).overflow));
    },
    async takeTurn(name, period_ms) {
      return (await available(() => commands.set(turnKey(keys, name), "1", "PX", Math.ceil(period_ms), "NX"))) === "OK";
    },
    takePermits: redisPermits(commands, keys, available),
    deadLetters: redisDeadLetters(commands, keys, available),
    notices,
    presence: redisPresence(commands, keys, available),
    state: () => (commands.status === "ready" ? "up" : "down"),
    async close() {
      commands.disconnect();
      blocking?.close();
      notices.close();
    },
  };
}

/** No offline queue, no resending: a command that cannot be sent now fails now, as its answer is only a hint. */
function connect(url: string, commandTimeout?: number): ScriptedRedis {
  const redis = new Redis(url, {
    connectTimeout: 2_000,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries: number) => Math.min(tries * 50, 1_000),
    keepAlive: 10_000,
    scripts,
    replyMapping: "legacy",
    commandTimeout,
  }) as ScriptedRedis;
  // Every failure is seen by the command that met it; without a listener ioredis prints them all.
  redis.on("error", () => {});
  return redis;
}
