import { expect, test } from "vitest";
import { job, main, never } from "../../../test/signal-drivers.ts";
import { memorySignal, type MemorySignal } from "./signal.ts";
import { wakeMark } from "../signal.ts";

const other = { ...main, queue: "other" };
const mark = { queue: main, id: wakeMark };

/** What a channel does to messages: JSON, in order, a moment later. */
function connect(parent: MemorySignal, child: MemorySignal): { leave(): void } {
  const later = (hear: (message: unknown) => unknown) => (hint: object) =>
    void setImmediate(() => hear(JSON.parse(JSON.stringify(hint))));
  const above = child.join(later((message) => below.hear(message)));
  const below = parent.join(later((message) => above.hear(message)));
  return below;
}
function fleet() {
  const [parent, a, b] = [memorySignal(), memorySignal(), memorySignal()];
  const left = connect(parent, a);
  connect(parent, b);
  return { parent, a, b, leave: left.leave };
}

test("a push wakes a worker in every process, and hands out no ids", async () => {
  const { parent, a, b } = fleet();
  const waits = [parent, a, b].map((signal) => signal.wait([other, main], 10_000, never));
  expect(await a.push([job("1"), job("2")])).toBe(2);
  expect(await Promise.all(waits)).toEqual([mark, mark, mark]);
  for (const signal of [parent, a, b]) expect((await signal.take([main], 10)).ids).toEqual([]);
});

test("a mark is kept for the next wait for its queue, once for all pushes, and dropped with its list", async () => {
  const { a } = fleet();
  await a.push([job("1")]);
  await a.pushFront([job("2"), job("3", 0, other)]);
  expect(await a.look(main)).toEqual({ length: 1, next: undefined, overflowed: false, marked: true });
  expect(await a.wait([main], 10_000, never)).toEqual(mark);
  expect(await a.wait([main], 1, never)).toBeUndefined();
  await a.setMarked(other, false);
  expect(await a.wait([other], 1, never)).toBeUndefined();
});

test("a wait ends when it is stopped, and a mark that comes then is kept", async () => {
  const { a } = fleet();
  const stop = new AbortController();
  const waiting = a.wait([main], 10_000, stop.signal);
  stop.abort();
  expect(await waiting).toBeUndefined();
  await a.push([job("1")]);
  expect(await a.wait([main], 10_000, never)).toEqual(mark);
});

test("notices and workers reach all processes; one that has left gets nothing", async () => {
  const { parent, a, b, leave } = fleet();
  const heard: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  b.notices.listen("finished", (ids) => {
    heard.push(...ids);
    resolve();
  });
  await a.notices.tell("finished", ["1"]);
  await promise;
  expect(heard).toEqual(["1"]);
  const facts = { host: "h", pid: 1, queues: ["default"], handlers: [], concurrency: 1, active: 0, lease_seconds: 30 };
  await b.presence.announce({ tenant: "default", id: "w", state: "running", ...facts });
  await expect.poll(async () => (await a.presence.list("default")).map(({ id }) => id)).toEqual(["w"]);
  leave();
  await b.presence.withdraw({ tenant: "default", id: "w" });
  await expect.poll(() => parent.presence.list("default")).toEqual([]);
  expect(await a.presence.list("default")).toHaveLength(1);
});

test("what is not a hint is left to others", () => {
  const { hear } = memorySignal().join(() => {});
  for (const message of [null, { member: "beat" }, { hint: "ready", queues: [{ tenant: 1 }] }])
    expect(hear(message)).toBe(false);
});
