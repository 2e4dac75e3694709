import { expect, test } from "vitest";
import { job, main, never } from "../../../test/signal-drivers.ts";
import { memorySignal } from "../memory/signal.ts";
import { hostSignal } from "./host.ts";
import { ipcSignal, type IpcSignal } from "./signal.ts";
import type { ToHost } from "./messages.ts";

const others = { ...main, queue: "others" };

/** A host that stands still from `stop` until `goOn`: what it is sent lies in the pipe meanwhile. */
function lent() {
  const memory = memorySignal();
  const pipe: ToHost[] = [];
  let isStill = false;
  let signal: IpcSignal | undefined = undefined;
  const host = hostSignal(memory, { send: (message) => void setImmediate(() => signal?.hear(message)) });
  const goOn = () => {
    isStill = false;
    for (const message of pipe.splice(0)) host.hear(message);
  };
  const send = (message: ToHost) => {
    pipe.push(message);
    if (!isStill) goOn();
  };
  signal = ipcSignal({ send }, 300);
  return { memory, signal, stop: () => void (isStill = true), goOn };
}

test("ids taken for calls that were given up go to the next call for these queues, oldest first", async () => {
  const { memory, signal, stop, goOn } = lent();
  const ids = Array.from({ length: 10 }, (_, at) => `id-${at}`);
  await memory.push(ids.map((id) => job(id)));
  stop();
  for (let call = 0; call < 3; call += 1) await expect(signal.take([main], 3)).rejects.toThrow();
  await expect(signal.wait([others, main], 100, never)).rejects.toThrow();
  goOn();
  // Its answer comes after theirs.
  expect(await signal.take([others], 5)).toEqual([]);
  expect(await signal.take([main, others], 5)).toEqual(ids.slice(0, 5));
  expect(await signal.take([others, main], 50)).toEqual(ids.slice(5));
  expect(await signal.take([main], 5)).toEqual([]);
});

test("a wait that was given up keeps what is pushed from no other", async () => {
  const { memory, signal, stop, goOn } = lent();
  stop();
  await expect(signal.wait([main], 100, never)).rejects.toThrow();
  const waiting = signal.wait([main], 10_000, never);
  goOn();
  await memory.push([job("a")]);
  expect(await waiting).toEqual({ queue: main, id: "a" });
});
