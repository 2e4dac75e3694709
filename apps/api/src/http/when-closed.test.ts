import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { whenClosed } from "./when-closed.ts";

test("what closes within another's close is told once", () => {
  const [socket, outgoing] = [new EventEmitter(), new EventEmitter()];
  let told = 0;
  // As Node does.
  socket.once("close", () => outgoing.emit("close"));
  whenClosed([outgoing, socket], () => (told += 1));
  socket.emit("close");
  expect(told).toBe(1);
});

test("a connection that goes on keeps no listener of what is over", () => {
  const [socket, outgoing] = [new EventEmitter(), new EventEmitter()];
  whenClosed([outgoing, socket], () => {});
  outgoing.emit("close");
  expect(socket.listenerCount("close")).toBe(0);
});
