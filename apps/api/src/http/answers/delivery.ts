import type { ApiContext } from "../context.ts";
import { hangUpOf } from "../input/hang-up.ts";

export type Delivery = {
  /** Aborts when the caller hangs up before the whole answer is on its way. */
  hungUp(): AbortSignal;
  /** What to do if the answer does not reach the caller, as far as we can know. */
  ifUndelivered(undo: () => void): void;
  /** Whether anything would be taken back. */
  handsOver(): boolean;
  /** The answer is made, and on its way from now on. */
  made(answer: Response): Response;
  /** There will be another answer. */
  failed(): void;
};

/**
 * The delivery of an answer that hands something over: if it cannot be made, or the caller hangs up before all of it is
 * on its way, what it hands over is taken back, as the caller never learned of it.
 *
 * @example
 * const delivery = createDelivery(c);
 * delivery.ifUndelivered(() => void longPoll.returns.giveBack(jobs));
 * return delivery.made(answerJson(c, 200, jobs));
 */
export function createDelivery(c: ApiContext): Delivery {
  let gone: AbortSignal | undefined;
  let undo: (() => void) | undefined;
  // Most requests never ask.
  const hungUp = () => (gone ??= hangUpOf(c));
  // No getter: each one would be a hidden class of its own, which the engine keeps long after the request.
  return {
    hungUp,
    ifUndelivered: (work) => void (undo = work),
    handsOver: () => undo !== undefined,
    made(answer) {
      if (undo && hungUp().aborted) undo();
      else if (undo) hungUp().addEventListener("abort", undo, { once: true });
      return answer;
    },
    failed: () => undo?.(),
  };
}
