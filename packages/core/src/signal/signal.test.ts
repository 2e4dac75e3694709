import { eventually, redisUrl, uniqueKeys } from "@atlasqueue/testing";
import { afterEach, describe, expect, test } from "vitest";
import type { QueueRef } from "../deps.ts";
import { hostSignal, type SignalHost } from "./ipc/host.ts";
import { ipcSignal } from "./ipc/signal.ts";
import { memorySignal } from "./memory/signal.ts";
import { presence_ttl_ms, workers_max, type WorkerPresence } from "./presence.ts";
import { redisSignal } from "./redis/signal.ts";
import type { ReadyJob, Signal } from "./signal.ts";

const main: QueueRef = { tenant: "default", queue: "default" };
const other: QueueRef = { tenant: "default", queue: "other" };
const job = (id: string, priority = 0, queue = main): ReadyJob => ({ id, priority, ...queue });
const presence = (id: string): WorkerPresence => ({
  id,
  tenant: "default",
  host: "h",
  pid: 1,
  queues: ["default"],
  handlers: ["noop"],
  concurrency: 10,
  active: 0,
  state: "running",
  lease_seconds: 30,
});
const never = new AbortController().signal;

const opened: Signal[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((signal) => signal.close()));
});

const drivers = {
  redis: (signals_max?: number) => {
    const { jobsKey, dlqKey } = uniqueKeys();
    const options = { url: redisUrl(), keys: { jobs: jobsKey, dead_letters: dlqKey }, timeout_ms: 5_000 };
    return redisSignal(signals_max === undefined ? options : { ...options, signals_max });
  },
  memory: (signals_max?: number) => memorySignal(signals_max),
  ipc: (signals_max?: number) => {
    const host: SignalHost = hostSignal(
      memorySignal(signals_max),
      pipeTo((message) => void signal.hear(message)),
    );
    const signal = ipcSignal(pipeTo((message) => void host.hear(message)));
    return signal;
  },
};

/** What a channel does to messages: JSON, some time later. */
function pipeTo(hear: (message: unknown) => void) {
  return {
    send(message: unknown) {
      const text = JSON.stringify(message);
      setImmediate(() => hear(JSON.parse(text)));
    },
  };
}

// One suite for every driver: what a worker relies on, whichever it gets.
describe.each(Object.entries(drivers))("%s", (_name, open) => {
  const start = (signals_max?: number): Signal => {
    const signal = open(signals_max);
    opened.push(signal);
    return signal;
  };

  test("hands out the oldest first, as many as asked for", async () => {
    const signal = start();
    await signal.push([job("a"), job("b")]);
    await signal.push([job("c")]);
    expect(await signal.take([main], 2)).toEqual(["a", "b"]);
    expect(await signal.take([main], 2)).toEqual(["c"]);
    expect(await signal.take([main], 2)).toEqual([]);
  });

  test("hands out higher priorities first, and negative ones last", async () => {
    const signal = start();
    await signal.push([job("low", -5), job("plain"), job("high", 1), job("higher", 10)]);
    expect(await signal.take([main], 1)).toEqual(["higher"]);
    expect(await signal.take([main], 10)).toEqual(["high", "plain", "low"]);
  });

  test("jobs pushed to the front come next, in order", async () => {
    const signal = start();
    await signal.push([job("new")]);
    await signal.pushFront([job("older"), job("old"), job("urgent", 3)]);
    expect(await signal.take([main], 10)).toEqual(["urgent", "older", "old", "new"]);
  });

  test("keeps the queues apart, and takes from several in the order given", async () => {
    const signal = start();
    await signal.push([job("a"), job("b", 0, other), job("c", 0, { tenant: "acme", queue: "default" })]);
    expect(await signal.take([other, main], 10)).toEqual(["b", "a"]);
    expect(await signal.take([{ tenant: "acme", queue: "default" }], 10)).toEqual(["c"]);
  });

  test("a push ends an idle worker's wait, even a prioritised one", async () => {
    const signal = start();
    const waiting = signal.wait([other, main], 10_000, never);
    await signal.push([job("a")]);
    expect(await waiting).toEqual({ queue: main, id: "a" });
    const again = signal.wait([main], 10_000, never);
    await signal.push([job("urgent", 7)]);
    const woken = await again;
    expect([woken?.id, ...(await signal.take([main], 5))].filter((id) => id !== "wake")).toEqual(["urgent"]);
  });

  test("a wait ends empty-handed at its timeout, and at once when told to stop", async () => {
    const signal = start();
    // The first wait opens a connection, which takes as long as the machine needs; a short wait would be over by then.
    await signal.push([job("first")]);
    expect(await signal.wait([main], 60_000, never)).toEqual({ queue: main, id: "first" });
    expect(await signal.wait([main], 20, never)).toBeUndefined();
    const stop = new AbortController();
    const waiting = signal.wait([main], 60_000, stop.signal);
    stop.abort();
    expect(await waiting).toBeUndefined();
    const after = signal.wait([main, other], 60_000, never);
    await signal.push([job("a", 0, other)]);
    expect(await after).toEqual({ queue: other, id: "a" });
  });

  test("what a wait took out is handed over, or still there, however late it is told to stop", async () => {
    const signal = start();
    for (let round = 0; round < 50; round += 1) {
      const stop = new AbortController();
      const waiting = signal.wait([main], 60_000, stop.signal);
      const pushed = signal.push([job("a")]);
      if (round % 2 === 0) await Promise.resolve();
      stop.abort();
      const [woken] = await Promise.all([waiting, pushed]);
      expect(woken ? [woken.id] : await signal.take([main], 10)).toEqual(["a"]);
    }
  });

  test("notices reach the listeners of their topic until they stop listening", async () => {
    const signal = start();
    const heard: string[] = [];
    const stop = signal.notices.listen("finished", (ids) => void heard.push(...ids));
    // A listener may be subscribed a moment after it asked.
    await eventually(async () => {
      await signal.notices.tell("cancelled", ["b"]);
      await signal.notices.tell("finished", ["a"]);
      expect(new Set(heard)).toEqual(new Set(["a"]));
    });
    stop();
    const before = heard.length;
    await signal.notices.tell("finished", ["a"]);
    expect(heard.length).toBe(before);
  });

  test("a full list takes nothing more until the overflow ends, so that nothing overtakes what was dropped", async () => {
    const signal = start(3);
    await signal.push([job("a"), job("b"), job("c")]);
    await signal.push([job("dropped")]);
    expect(await signal.look(main)).toEqual({ length: 3, next: "a", overflowed: true });
    expect(await signal.take([main], 10)).toEqual(["a", "b", "c"]);
    await signal.push([job("overtaking")]);
    expect(await signal.take([main], 10)).toEqual([]);
    await signal.pushFront([job("dropped"), job("overtaking")]);
    await signal.endOverflow(main);
    await signal.push([job("after")]);
    expect(await signal.take([main], 10)).toEqual(["dropped", "overtaking", "after"]);
  });

  test("lists the workers of a tenant that announced themselves, until they withdraw", async () => {
    const signal = start();
    const a = presence("a");
    await signal.presence.announce(presence("b"));
    await signal.presence.announce({ ...a, active: 1 });
    await signal.presence.announce({ ...a, active: 2, state: "draining" });
    await signal.presence.announce({ ...a, tenant: "acme" });
    const listed = await signal.presence.list("default");
    expect(listed).toMatchObject([{ ...a, active: 2, state: "draining" }, presence("b")]);
    expect(Math.abs(Date.now() - (listed[0]?.last_seen.getTime() ?? 0))).toBeLessThan(presence_ttl_ms);
    await signal.presence.withdraw(a);
    expect((await signal.presence.list("default")).map(({ id }) => id)).toEqual(["b"]);
    expect((await signal.presence.list("acme")).map(({ id }) => id)).toEqual(["a"]);
    expect(await signal.presence.vanished()).toEqual([]);
  });

  test("records a limited number of a tenant's workers, and keeps hearing those it has", async () => {
    const signal = start();
    // All at once, as the first ones would be forgotten within seconds.
    await Promise.all(Array.from({ length: workers_max }, (_, at) => signal.presence.announce(presence(`w-${at}`))));
    await signal.presence.announce(presence("one too many"));
    await signal.presence.announce({ ...presence("w-0"), active: 7 });
    const listed = await signal.presence.list("default");
    expect(listed).toHaveLength(workers_max);
    expect(listed.find(({ id }) => id === "w-0")).toMatchObject({ active: 7 });
  });

  test("gives a turn to one caller in each period", async () => {
    const signal = start();
    expect(await signal.takeTurn("sweep", 60_000)).toBe(true);
    expect(await signal.takeTurn("sweep", 60_000)).toBe(false);
    expect(await signal.takeTurn("other", 60_000)).toBe(true);
  });

  test("a mark is seen until its time is up, and marking again prolongs it", async () => {
    const signal = start();
    expect(await signal.isMarked("outage")).toBe(false);
    await signal.mark("outage", 1);
    await eventually(async () => expect(await signal.isMarked("outage")).toBe(false));
    await signal.mark("outage", 1);
    await signal.mark("outage", 60_000);
    expect(await signal.isMarked("outage")).toBe(true);
    // Of another process, which knows of a shorter one.
    await signal.mark("outage", 1);
    await signal.takeTurn("over", 2);
    await eventually(async () => expect(await signal.takeTurn("over", 2)).toBe(true));
    expect(await signal.isMarked("outage")).toBe(true);
    expect(await signal.isMarked("other")).toBe(false);
    expect(await signal.takeTurn("outage", 60_000)).toBe(true);
  });

  test("shows each dead letter once, newest first, until it is removed", async () => {
    const { deadLetters } = start();
    expect(await deadLetters.add(["a", "b"])).toBe(2);
    expect(await deadLetters.add(["b", "c"])).toBe(1);
    expect(await deadLetters.page(0, 10)).toEqual(["c", "b", "a"]);
    expect(await deadLetters.remove(["b", "unknown"])).toBe(1);
    await deadLetters.setCursor("here");
    expect(await deadLetters.look()).toEqual({ length: 2, consistent: true, cursor: "here" });
    await deadLetters.clear();
    expect(await deadLetters.look()).toEqual({ length: 0, consistent: true, cursor: undefined });
  });

  test("removes many dead letters at once and keeps the others in order, while more come", async () => {
    const { deadLetters } = start();
    const ids = Array.from({ length: 3_500 }, (_, at) => `d-${at}`);
    await deadLetters.add(ids);
    const leaving = ids.filter((_, at) => at % 3 !== 0);
    const late = Array.from({ length: 200 }, (_, at) => `late-${at}`);
    const adding = (async () => {
      for (const id of late) await deadLetters.add([id]);
    })();
    const [first, second] = await Promise.all([
      deadLetters.remove([...leaving.slice(0, 2_000), "unknown"]),
      deadLetters.remove(leaving.slice(300)),
    ]);
    await adding;
    expect((first ?? 0) + (second ?? 0)).toBe(leaving.length);
    const kept = [...ids.filter((_, at) => at % 3 === 0), ...late].toReversed();
    expect(await deadLetters.page(0, 5_000)).toEqual(kept);
    expect(await deadLetters.look()).toMatchObject({ length: kept.length, consistent: true });
  });

  test("while prioritised jobs are left, waiting workers are woken for each of them, whatever others took", async () => {
    const signal = start();
    const ids = Array.from({ length: 150 }, (_, at) => `job-${100 + at}`);
    await signal.push(ids.map((id) => job(id, -1)));
    await signal.push([job("plain")]);
    // Takes out marks along the way.
    const got = await signal.take([main], 2);
    while (got.length < 151) {
      const woken = await signal.wait([main], 1_000, never);
      expect(woken).toBeDefined();
      got.push(...(woken && woken.id !== "wake" ? [woken.id] : await signal.take([main], 1)));
    }
    expect(got).toEqual(["plain", ...ids]);
    expect(await signal.look(main)).toMatchObject({ length: 0 });
  });

  test("a prioritised job whose mark was lost wakes a worker when it is offered again", async () => {
    const signal = start();
    await signal.push([job("urgent", 5)]);
    const woken = await signal.wait([main], 1_000, never);
    // The woken worker is gone.
    if (woken?.id === "urgent") return;
    await signal.pushFront([job("urgent", 5)]);
    expect(await signal.wait([main], 1_000, never)).toEqual({ queue: main, id: "wake" });
    expect(await signal.take([main], 10)).toEqual(["urgent"]);
  });

  test("draws permits for wishes in their order, and says when the refused ones may come again", async () => {
    const signal = start();
    const rate = { limit: 10, period_ms: 60_000 };
    expect(await signal.takePermits("acme", [4, 7, 6], rate)).toEqual([
      { allowed: true, remaining: 6, reset_ms: 24_000, retry_after_ms: 0 },
      { allowed: false, remaining: 6, reset_ms: 24_000, retry_after_ms: 6_000 },
      { allowed: true, remaining: 0, reset_ms: 60_000, retry_after_ms: 0 },
    ]);
    const [apart] = await signal.takePermits("other", [10], rate);
    expect(apart?.allowed).toBe(true);
  });

  test("restores permits as time goes by", async () => {
    const signal = start();
    const rate = { limit: 10, period_ms: 500 };
    await signal.takePermits("acme", [10], rate);
    const [first] = await signal.takePermits("acme", [5], rate);
    expect(first?.allowed).toBe(false);
    await eventually(async () => (await signal.takePermits("acme", [10], rate))[0]?.allowed === true);
  });

  test("hands out twenty thousand in order", async () => {
    const signal = start();
    const ids = Array.from({ length: 20_000 }, (_, at) => `job-${at}`);
    await signal.push(ids.slice(10_000).map((id) => job(id)));
    await signal.pushFront(ids.slice(0, 10_000).map((id) => job(id)));
    const taken: string[] = [];
    while (taken.length < ids.length) taken.push(...(await signal.take([main], 3_000)));
    expect(taken).toEqual(ids);
  });
});
