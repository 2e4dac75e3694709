import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { expect, test, vi } from "vitest";
import { closeWhatItNeverTook } from "./launch.ts";

/** A process as node:cluster uses it: it is sent a connection, answers, and exits. */
function offering() {
  const child = Object.assign(new EventEmitter(), { send: () => true });
  closeWhatItNeverTook(child as unknown as ChildProcess);
  const offer = () => {
    const handle = { close: vi.fn() };
    (child.send as (...given: unknown[]) => boolean)({ act: "newconn" }, handle);
    return handle;
  };
  return {
    offer,
    answer: (accepted: boolean) => child.emit("internalMessage", { ack: 1, accepted }),
    exit: () => child.emit("exit"),
  };
}

test("the connection that a process was offered as it ended is closed", () => {
  const { offer, answer, exit } = offering();
  offer();
  answer(true);
  const last = offer();
  exit();
  expect(last.close).toHaveBeenCalledOnce();
});

test.each([true, false])("one that it had answered for is not: another process may have it (taken: %s)", (accepted) => {
  const { offer, answer, exit } = offering();
  const handle = offer();
  answer(accepted);
  exit();
  expect(handle.close).not.toHaveBeenCalled();
});
