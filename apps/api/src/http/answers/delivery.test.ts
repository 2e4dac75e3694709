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
/** The call that asks, which does nothing itself. */
function outer() {
  const outgoing = new EventEmitter();
  const delivery = createDelivery({ env: { outgoing } } as unknown as ApiContext, noAuthentication.watch);
  return { outgoing, delivery };
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

test("what was handed over for an answer that is not delivered is taken back, once", () => {
  for (const end of ["failed", "close"] as const) {
    const whole = outer();
    const part = inner({ part_of: whole.delivery });
    let taken_back = 0;
    part.delivery.ifUndelivered(() => (taken_back += 1));
    part.delivery.made(answer());
    if (end === "failed") whole.delivery.failed();
    else whole.delivery.made(answer());
    whole.outgoing.emit("close");
    part.outgoing.emit("close");
    expect(taken_back).toBe(1);
  }
});
