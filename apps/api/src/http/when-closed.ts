import type { EventEmitter } from "node:events";

/**
 * Calls once, when the first of these closes. A response may close within its connection's "close", whose listeners are
 * all called then, also those that are taken off meanwhile.
 *
 * @example
 * whenClosed([outgoing, socket], () => room.give(holder, bytes));
 */
export function whenClosed(ends: readonly EventEmitter[], then: () => void): void {
  let is_over = false;
  const over = () => {
    if (is_over) return;
    is_over = true;
    for (const end of ends) end.off("close", over);
    then();
  };
  for (const end of ends) end.once("close", over);
}
