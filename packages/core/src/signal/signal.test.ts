import { expect, test } from "vitest";
import type { QueueRef } from "../deps.ts";
import { job, main, never, withEachRedis } from "../../test/signal-drivers.ts";

const other: QueueRef = { tenant: "default", queue: "other" };

withEachRedis((start) => {
  test("hands out the oldest first, as many as asked for", async () => {
    const signal = start();
    await signal.push([job("a"), job("b")]);
    await signal.push([job("c")]);
    expect((await signal.take([main], 2)).ids).toEqual(["a", "b"]);
    expect((await signal.take([main], 2)).ids).toEqual(["c"]);
    expect((await signal.take([main], 2)).ids).toEqual([]);
  });

  test("hands out higher priorities first, and negative ones last", async () => {
    const signal = start();
    await signal.push([job("low", -5), job("plain"), job("high", 1), job("higher", 10)]);
    expect((await signal.take([main], 1)).ids).toEqual(["higher"]);
    expect((await signal.take([main], 10)).ids).toEqual(["high", "plain", "low"]);
  });

  test("jobs pushed to the front come next, in order", async () => {
    const signal = start();
    await signal.push([job("new")]);
    await signal.pushFront([job("older"), job("old"), job("urgent", 3)]);
    expect((await signal.take([main], 10)).ids).toEqual(["urgent", "older", "old", "new"]);
  });

  test("keeps the queues apart, and takes from several in the order given", async () => {
    const signal = start();
    await signal.push([job("a"), job("b", 0, other), job("c", 0, { tenant: "acme", queue: "default" })]);
    expect((await signal.take([other, main], 10)).ids).toEqual(["b", "a"]);
    expect((await signal.take([{ tenant: "acme", queue: "default" }], 10)).ids).toEqual(["c"]);
  });

  test("whoever waits for many queues finds what woke it, whatever the order and with a priority or marked", async () => {
    const signal = start();
    const queues = Array.from({ length: 10 }, (_, at) => ({ tenant: "default", queue: `q${at}` }));
    const found = async () => {
      const woken = await signal.wait(queues, 10_000, never);
      return [woken?.id, ...(await signal.take(queues, 5)).ids].filter((id) => id !== "wake");
    };
    for (const queue of queues) {
      await signal.push([job("plain", 0, queue)]);
      expect(await found()).toEqual(["plain"]);
      await signal.push([job("urgent", 7, queue)]);
      expect(await found()).toEqual(["urgent"]);
      await signal.setMarked(queue, true);
      await signal.push([job("mark", 0, queue)]);
      expect(await found()).toEqual(["mark"]);
    }
  });

  test("a marked queue has one id, the first that was pushed, until it is taken or the queue is marked no more", async () => {
    const signal = start();
    await signal.push([job("old"), job("urgent", 7)]);
    await signal.setMarked(main, true);
    expect(await signal.look(main)).toEqual({ length: 0, next: undefined, overflowed: false, marked: true });
    expect(await signal.push([job("a"), job("b", 3)])).toBe(2);
    expect(await signal.pushFront([job("c"), job("d")])).toBe(0);
    expect((await signal.take([main], 10)).ids).toEqual(["a"]);
    expect(await signal.pushFront([job("e", 5)])).toBe(1);
    expect((await signal.take([main], 10)).ids).toEqual(["e"]);
    expect((await signal.take([main], 10)).ids).toEqual([]);
    await signal.setMarked(main, false);
    await signal.push([job("x"), job("y", 3)]);
    expect((await signal.take([main], 10)).ids.filter((id) => id !== "wake")).toEqual(["y", "x"]);
  });

  test("a push ends an idle worker's wait, even a prioritised one", async () => {
    const signal = start();
    const waiting = signal.wait([other, main], 10_000, never);
    await signal.push([job("a")]);
    expect(await waiting).toEqual({ queue: main, id: "a" });
    const again = signal.wait([main], 10_000, never);
    await signal.push([job("urgent", 7)]);
    const woken = await again;
    expect([woken?.id, ...(await signal.take([main], 5)).ids].filter((id) => id !== "wake")).toEqual(["urgent"]);
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
      expect(woken ? [woken.id] : (await signal.take([main], 10)).ids).toEqual(["a"]);
    }
  });

  test("a full list takes nothing more until the overflow ends, so that nothing overtakes what was dropped", async () => {
    const signal = start(3);
    await signal.push([job("a"), job("b"), job("c")]);
    await signal.push([job("dropped")]);
    expect(await signal.look(main)).toEqual({ length: 3, next: "a", overflowed: true, marked: false });
    expect((await signal.take([main], 10)).ids).toEqual(["a", "b", "c"]);
    await signal.push([job("overtaking")]);
    expect((await signal.take([main], 10)).ids).toEqual([]);
    await signal.setMarked(main, false);
    await signal.pushFront([job("dropped"), job("overtaking")]);
    await signal.push([job("after")]);
    expect((await signal.take([main], 10)).ids).toEqual(["dropped", "overtaking", "after"]);
  });

  test("while prioritised jobs are left, waiting workers are woken for each of them, whatever others took", async () => {
    const signal = start();
    const ids = Array.from({ length: 150 }, (_, at) => `job-${100 + at}`);
    await signal.push(ids.map((id) => job(id, -1)));
    await signal.push([job("plain")]);
    // Takes out marks along the way.
    const got = (await signal.take([main], 2)).ids;
    while (got.length < 151) {
      const woken = await signal.wait([main], 1_000, never);
      expect(woken).toBeDefined();
      got.push(...(woken && woken.id !== "wake" ? [woken.id] : (await signal.take([main], 1)).ids));
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
    expect((await signal.take([main], 10)).ids).toEqual(["urgent"]);
  });

  test("hands out twenty thousand in order", async () => {
    const signal = start();
    const ids = Array.from({ length: 20_000 }, (_, at) => `job-${at}`);
    await signal.push(ids.slice(10_000).map((id) => job(id)));
    await signal.pushFront(ids.slice(0, 10_000).map((id) => job(id)));
    const taken: string[] = [];
    while (taken.length < ids.length) taken.push(...(await signal.take([main], 3_000)).ids);
    expect(taken).toEqual(ids);
  });

  test("shows each dead letter once, newest first, until it is removed", async () => {
    const { deadLetters } = start();
    expect(await deadLetters.add(["a", "b"])).toBe(2);
    expect(await deadLetters.add(["b", "c"])).toBe(1);
    expect(await deadLetters.page(0, 10)).toEqual(["c", "b", "a"]);
    expect(await deadLetters.remove(["b", "unknown"])).toBe(1);
    await deadLetters.clear();
    expect(await deadLetters.look()).toEqual({ length: 0, consistent: true, cursor: undefined });
  });

  test("fills the list of dead letters only from where it has been filled to", async () => {
    const { deadLetters } = start();
    await deadLetters.add(["b"]);
    expect(await deadLetters.carryOn(["a", "b"], undefined, "here")).toBe(1);
    expect(await deadLetters.look()).toEqual({ length: 2, consistent: true, cursor: "here" });
    for (const from of [undefined, "there"]) expect(await deadLetters.carryOn(["x"], from, "x")).toBe("elsewhere");
    expect(await deadLetters.look()).toEqual({ length: 2, consistent: true, cursor: "here" });
    expect(await deadLetters.carryOn(["c"], "here", "there")).toBe(1);
    expect(await deadLetters.page(0, 10)).toEqual(["c", "a", "b"]);
    await deadLetters.clear();
    expect(await deadLetters.carryOn(["d"], "there", "on")).toBe("elsewhere");
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
});
