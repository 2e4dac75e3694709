import { expect, test } from "vitest";
import { job, main, never, withEachSignal } from "../../../test/signal-drivers.ts";
import { randomFrom } from "../../../test/random-from.ts";
import { wakeMark, type ReadyInGroup, type Signal } from "../signal.ts";

const of = (group: string | null, id: string, priority = 0): ReadyInGroup => ({ ...job(id, priority), group });
const many = (group: string | null, count: number) =>
  Array.from({ length: count }, (_, n) => of(group, `${group ?? "none"}-${String(n).padStart(5, "0")}`));
const inTurns = async (signal: Signal): Promise<Signal> => {
  await signal.setTurns(main, true);
  return signal;
};

/** The groups of the ids that are handed out, one after another. */
async function groupsOf(signal: Signal, count: number): Promise<string[]> {
  const ids = await signal.take([main], count);
  return ids.map((id) => id.split("-")[0] as string);
}

withEachSignal((start) => {
  test("groups take turns, and a newcomer's turn is in the present round", async () => {
    const signal = await inTurns(start());
    await signal.pushInTurns(many("big", 100));
    expect(await groupsOf(signal, 10)).toEqual(Array.from({ length: 10 }, () => "big"));
    await signal.pushInTurns([...many("small", 3), ...many(null, 2)]);
    const next = await groupsOf(signal, 9);
    expect(next.slice(0, 3).toSorted()).toEqual(["big", "none", "small"]);
    expect(next.slice(3, 6).toSorted()).toEqual(["big", "none", "small"]);
    expect(next.slice(6, 8).toSorted()).toEqual(["big", "small"]);
    expect(await groupsOf(signal, 1_000)).toHaveLength(100 + 5 - 19);
  });

  test("a group that comes back within a round waits for the next one", async () => {
    const signal = await inTurns(start());
    await signal.pushInTurns([of("a", "a-1"), of("b", "b-1"), of("c", "c-1")]);
    expect(await signal.take([main], 1)).toEqual(["a-1"]);
    await signal.pushInTurns([of("a", "a-2")]);
    expect(await signal.take([main], 10)).toEqual(["b-1", "c-1", "a-2"]);
  });

  test("higher priorities go first, and groups take turns within each", async () => {
    const signal = await inTurns(start());
    await signal.pushInTurns([...many("big", 3), of("small", "small-1"), of("big", "big-low", -1), of("x", "x-1", 9)]);
    await signal.pushInTurns([of("big", "big-urgent", 9), of("big", "big-soon", 9), of("y", "y-1", 9)]);
    const ids = await signal.take([main], 100);
    expect(ids.slice(0, 3).toSorted()).toEqual(["big-urgent", "x-1", "y-1"]);
    expect(ids.slice(3, 8)).toEqual(["big-soon", "big-00000", "small-1", "big-00001", "big-00002"]);
    expect(ids[8]).toBe("big-low");
  });

  test("a job is there once, and keeps its place", async () => {
    const signal = await inTurns(start());
    expect(await signal.pushInTurns(many("a", 3))).toBe(3);
    expect(await signal.pushInTurns([...many("a", 4), ...many("b", 1)])).toBe(2);
    expect((await signal.take([main], 100)).length).toBe(5);
  });

  test("other pushes leave such a queue alone, and it says so", async () => {
    const signal = start();
    await signal.push([job("before")]);
    await signal.setTurns(main, true);
    expect(await signal.push([job("a"), job("urgent", 3)])).toBe(0);
    expect(await signal.pushFront([job("a"), job("urgent", 3)])).toBe(0);
    expect(await signal.look(main)).toEqual({ length: 0, next: undefined, overflowed: false, in_turns: true });
    await signal.setTurns(main, false);
    await signal.push([job("a")]);
    expect(await signal.look(main)).toMatchObject({ length: 1, in_turns: false });
  });

  test("wakes a waiting worker", async () => {
    const signal = await inTurns(start());
    const waiting = signal.wait([main], 60_000, never);
    await signal.pushInTurns([of("a", "a-1")]);
    const woken = await waiting;
    expect([woken?.id, ...(await signal.take([main], 5))].filter((id) => id !== wakeMark)).toEqual(["a-1"]);
  });

  test("takes no more than there is room for, and the rest when it is offered again", async () => {
    const signal = await inTurns(start(10));
    expect(await signal.pushInTurns(many("a", 25))).toBe(10);
    expect(await signal.take([main], 4)).toHaveLength(4);
    expect(await signal.pushInTurns(many("a", 25))).toBe(4);
  });

  test("in any window, each group that waits all along gets its share less one", { tags: ["slow"] }, async () => {
    const groups = ["a", "b", "c", "d", "e"];
    for (let seed = 1; seed <= 4; seed += 1) {
      const random = randomFrom(seed);
      const signal = await inTurns(start());
      const waiting = new Map(groups.map((group) => [group, 0]));
      const starts: string[] = [];
      /** For each start: who waited before it. */
      const waited: Set<string>[] = [];
      let made = 0;
      for (let step = 0; step < 60; step += 1) {
        const count = Math.floor(random() * 8);
        const group = groups[Math.floor(random() * groups.length * (step % 3 === 0 ? 1 : 0.3))] as string;
        const jobs = Array.from({ length: count }, () => of(group, `${group}-${(made += 1) + 10_000}`));
        await signal.pushInTurns(jobs);
        waiting.set(group, (waiting.get(group) ?? 0) + count);
        for (const taken of await groupsOf(signal, Math.floor(random() * 6))) {
          waited.push(new Set(groups.filter((one) => (waiting.get(one) ?? 0) > 0)));
          starts.push(taken);
          waiting.set(taken, (waiting.get(taken) ?? 0) - 1);
        }
      }
      for (const group of groups)
        for (let from = 0; from < starts.length; from += 1)
          for (let to = from, got = 0; to < starts.length && waited[to]?.has(group); to += 1) {
            if (starts[to] === group) got += 1;
            const share = Math.floor((to - from + 1) / groups.length);
            expect(got, `seed ${seed}, ${group} from ${from} to ${to}`).toBeGreaterThanOrEqual(share - 1);
          }
    }
  });
});
