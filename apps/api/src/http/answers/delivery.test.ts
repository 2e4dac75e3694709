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
const answer = () => new Response("{}");

test("once it has been answered, or will not be, a call no longer listens for the end of its connection", () => {
  for (const end of ["made", "failed"] as const) {
    const { outgoing, delivery } = inner();
    delivery.hungUp();
    expect(outgoing.listenerCount("close")).toBe(1);
    if (end === "made") delivery.made(answer());
    else delivery.failed();
    expect(outgoing.listenerCount("close")).toBe(0);
  }
});

test("one that hands something over takes it back when the connection ends after its answer", () => {
  const { outgoing, delivery } = inner();
  let taken_back = 0;
  delivery.ifUndelivered(() => (taken_back += 1));
  delivery.made(answer());
  expect(taken_back).toBe(0);
  outgoing.emit("close");
  expect(taken_back).toBe(1);
});
