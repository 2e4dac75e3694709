import type { ApiContext } from "../context.ts";
import { hangUpOf, type HangUp } from "../input/hang-up.ts";

export type Delivery = {
  /** Aborts when the caller hangs up before the whole answer is on its way. */
  hungUp(): AbortSignal;
  /** What to do if the answer does not reach the caller, as far as we can know. `done`: something stays done all the same. */
  ifUndelivered(undo: () => void, what?: { done: boolean }): void;
  /** Whether all of it would be taken back. */
  undoes(): boolean;
  /** The answer is made, all of it, and on its way from now on. */
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
  let hangUp: HangUp | undefined;
  let undo: (() => void) | undefined;
  let stays = false;
  // Most requests never ask.
  const hungUp = () => (hangUp ??= hangUpOf(c)).signal;
  // No getter: each one would be a hidden class of its own, which the engine keeps long after the request.
  return {
    hungUp,
    ifUndelivered(work, { done } = { done: false }) {
      undo = work;
      stays = done;
    },
    undoes: () => undo !== undefined && !stays,
    made(answer) {
      if (!undo) hangUp?.forget();
      else if (hungUp().aborted) undo();
      else hungUp().addEventListener("abort", undo, { once: true });
      return answer;
    },
    failed() {
      hangUp?.forget();
      undo?.();
    },
  };
}
