import { eventually, uniqueKeys } from "@atlasqueue/harness";
import { expect, onTestFinished } from "vitest";
import type { QueueRef } from "../src/deps.ts";
import type { SignalKeys } from "../src/signal/keys.ts";
import { redisSignal, type RedisSignalOptions } from "../src/signal/redis/signal.ts";
import type { Signal } from "../src/signal/signal.ts";
import { job, main, never } from "./signal-drivers.ts";

/** Seconds, where TCP alone would take a quarter of an hour. */
export const soon = { timeout_ms: 25_000, interval_ms: 50 };

/** Names that no other test uses. */
export function newKeys(): SignalKeys {
  const { jobsKey, dlqKey } = uniqueKeys();
  return { jobs: jobsKey, deadLetters: dlqKey };
}

/** Under names of its own unless others are given; closed when the test ends. */
export function openSignal({ keys = newKeys(), ...options }: RedisSignalOptions): Signal {
  const signal = redisSignal({ ...options, keys });
  onTestFinished(() => signal.close());
  return signal;
}

/** Pushes, takes and waits, for one queue. */
export async function expectQueueToWork(signal: Signal, queue: QueueRef = main): Promise<void> {
  await eventually(async () => {
    await signal.take([queue], 100);
    const waiting = signal.wait([queue], 5_000, never).catch((error: Error) => error);
    await signal.push([job("a", 0, queue)]);
    expect(await waiting).toEqual({ queue, id: "a" });
  }, soon);
}

/** Everything that goes through a signal: commands, waits, notices, presence. */
export async function expectAllToWork(signal: Signal): Promise<void> {
  const heard: string[] = [];
  const stop = signal.notices.listen("finished", (ids) => void heard.push(...ids));
  await expectQueueToWork(signal);
  await eventually(async () => {
    await signal.notices.tell("finished", ["told"]);
    expect(heard).toContain("told");
  }, soon);
  stop();
  await eventually(async () => signal.presence.list("default"), soon);
  await eventually(() => expect(signal.state()).toBe("up"), soon);
}
