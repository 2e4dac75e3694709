import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { refuseConnect } from "./client-error.ts";

test("a CONNECT whose client resets the connection brings no process down: its error is heard", () => {
  const socket = new Socket();
  refuseConnect(new IncomingMessage(socket), socket);
  expect(() => socket.emit("error", new Error("write ECONNRESET"))).not.toThrow();
  socket.destroy();
});
