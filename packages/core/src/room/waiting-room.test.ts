import { setImmediate as turn } from "node:timers/promises";
import { eventually } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { CallerGoneError, outcomeUnknown } from "../database/errors.ts";
import { NoRoomError } from "../shares.ts";
import { createWaitingRoom, type Place } from "./waiting-room.ts";

const patient_ms = 600_000;
const roomFor = (room_max: number, { wait_ms_max = patient_ms, waiting_max = 100 } = {}) =>
  createWaitingRoom("pages", { room_max, waiting_max, wait_ms_max });

/** Asks for room, and notes its name when it has it. */
function asker(room: ReturnType<typeof roomFor>) {
  const order: string[] = [];
  const ask = (name: string, amount: number): Place => {
    const place = room.place(name.slice(0, 1), amount);
    const entered = place.enter();
    if (entered === undefined) order.push(name);
    else void entered.then(() => order.push(name));
    return place;
  };
  return { order, ask };
}
const failureOf = (work: Promise<void> | undefined): Promise<unknown> =>
  (work ?? Promise.resolve()).then(
    () => expect.unreachable("it did not fail"),
    (error: unknown) => error,
  );

test("room that is there is taken at once, and who wants more than all of it has all of it alone", () => {
  const room = roomFor(100);
  const place = room.place("a", 1_000_000);
  expect(place.enter()).toBeUndefined();
  expect(place.enter()).toBeUndefined();
  void room.place("b", 1).enter();
  expect(room.waiting()).toBe(1);
  place.leave();
  place.leave();
  expect(room.waiting()).toBe(0);
});

test("holders take turns, each in its own order", async () => {
  const room = roomFor(10);
  const { order, ask } = asker(room);
  const places = new Map(["a1", "a2", "a3", "b1", "b2", "c1"].map((name) => [name, ask(name, 10)]));
  for (let done = 1; done <= 6; done += 1) {
    await eventually(() => expect(order).toHaveLength(done));
    places.get(order.at(-1) ?? "")?.leave();
  }
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
  expect(room.waiting()).toBe(0);
});

test("what goes ahead does so in its holder's line, and takes no other's turn", async () => {
  const room = roomFor(10);
  const { order, ask } = asker(room);
  const first = ask("a1", 10);
  const places = ["a2", "a3", "b1"].map((name) => ask(name, 10));
  const urgent = room.place("a", 10, { ahead: true });
  void urgent.enter()?.then(() => order.push("a's urgent one"));
  first.leave();
  await turn();
  urgent.leave();
  for (let round = 0; round < 3; round += 1) {
    await turn();
    for (const place of places) place.leave();
  }
  expect(order).toEqual(["a1", "a's urgent one", "b1", "a2", "a3"]);
});

test("those that go ahead without end leave every fourth turn to the rest of their holder", async () => {
  const room = roomFor(10);
  const order: string[] = [];
  const ask = (name: string, goes_ahead: boolean): void => {
    const place = room.place("a", 10, { ahead: goes_ahead });
    const have = () => {
      order.push(name);
      if (goes_ahead && order.length < 8) ask(name, true);
      setImmediate(place.leave);
    };
    const entered = place.enter();
    if (entered) void entered.then(have);
    else have();
  };
  ask("ahead", true);
  ask("rest", false);
  await eventually(() => expect(order).toContain("rest"));
  expect(order.slice(0, 5)).toEqual(["ahead", "ahead", "ahead", "ahead", "rest"]);
});

test("a holder who wants more than its share leaves room to the others at once", async () => {
  const room = roomFor(100);
  const { order, ask } = asker(room);
  for (let at = 0; at < 20; at += 1) ask(`a${at}`, 10);
  await turn();
  expect(order).toHaveLength(7);
  ask("b1", 10);
  await turn();
  expect(order.at(-1)).toBe("b1");
});

test("nobody who wants little overtakes the one who waits for much", async () => {
  const room = roomFor(100);
  const { order, ask } = asker(room);
  const small = ["a", "b", "c"].map((name) => ask(name, 20));
  ask("d", 90);
  ask("e", 10);
  expect(order).toEqual(["a", "b", "c"]);
  for (const place of small) place.leave();
  await turn();
  expect(order).toEqual(["a", "b", "c", "d", "e"]);
});

test("who waits for too long is refused, was not begun, and is in nobody's way", async () => {
  const room = roomFor(100, { wait_ms_max: 30 });
  const all = room.place("a", 60);
  void all.enter();
  const much = failureOf(room.place("b", 100).enter());
  const error = await much;
  expect(error).toBeInstanceOf(NoRoomError);
  expect(outcomeUnknown(error)).toBe(false);
  expect(room.waiting()).toBe(0);
  expect(room.place("c", 40).enter()).toBeUndefined();
});

test("a caller who hangs up leaves the line, and those behind it go on", async () => {
  const room = roomFor(100);
  void room.place("a", 60).enter();
  const gone = new AbortController();
  const left = failureOf(room.place("b", 100).enter(() => gone.signal));
  const { order, ask } = asker(room);
  ask("c", 40);
  expect(order).toEqual([]);
  gone.abort();
  expect(await left).toBeInstanceOf(CallerGoneError);
  expect(order).toEqual(["c"]);
  expect(await failureOf(room.place("d", 100).enter(() => gone.signal))).toBeInstanceOf(CallerGoneError);
  expect(room.waiting()).toBe(0);
});

test("room that is to be had at once is, though others wait for more of their own share", async () => {
  const room = roomFor(100);
  const { order, ask } = asker(room);
  for (let at = 0; at < 4; at += 1) ask(`a${at}`, 25);
  expect(order).toHaveLength(3);
  expect(room.place("b", 5).enterNow()).toBe(true);
  expect(room.place("a", 5).enterNow()).toBe(false);
  expect(room.waiting()).toBe(1);
});

test("nobody who wants room at once overtakes one who waits for there to be enough", () => {
  const room = roomFor(100);
  const { ask } = asker(room);
  ask("a1", 20);
  ask("b1", 90);
  expect(room.place("c", 10).enterNow()).toBe(false);
  expect(room.waiting()).toBe(1);
});

test("those that wait are bounded, and each holder has a share", async () => {
  const room = roomFor(1, { waiting_max: 8 });
  void room.place("a", 1).enter();
  const refused = [];
  for (let at = 0; at < 10; at += 1)
    refused.push(
      room
        .place("a", 1)
        .enter()
        ?.catch((error: unknown) => error),
    );
  expect(await Promise.race(refused)).toMatchObject({ name: "NoRoomError", share: true });
  expect(room.waiting()).toBe(6);
  void room.place("b", 1).enter();
  expect(room.waiting()).toBe(7);
});
