import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { noAuthentication } from "../../access/authenticate.ts";
import type { ApiContext } from "../context.ts";
import { createDelivery } from "./delivery.ts";

/** A call from within the app, on the connection of the one that asks. */
function inner(env: ApiContext["env"] = {}) {
  const outgoing = new EventEmitter();
  const asker = new AbortController();
  const c = { env: { outgoing, given_up: asker.signal, ...env } } as unknown as ApiContext;
  return { outgoing, asker, delivery: createDelivery(c, noAuthentication.watch) };
}

test("once its answer is made, a call no longer listens for the end of its connection", () => {
  const { outgoing, delivery } = inner();
  delivery.hungUp();
  expect(outgoing.listenerCount("close")).toBe(1);
  delivery.over();
  expect(outgoing.listenerCount("close")).toBe(0);
});
