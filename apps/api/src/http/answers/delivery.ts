import type { ApiContext, Watch, Whole } from "../context.ts";
import { ProblemError } from "./problem.ts";

export type Delivery = Whole & {
  /** Aborts when the caller hangs up before the whole answer is on its way, or their token ends before it is made. */
  hungUp(): AbortSignal;
  /** Why the wait was ended early, if the token's end did that. */
  refusal(): ProblemError | undefined;
  /**
   * What to do if the connection is seen closed before the answer is on its way. `repeatable`: the caller can ask for it
   * again, so it is only undone for an answer that this one is a part of.
   */
  ifUndelivered(undo: () => void, what?: { repeatable?: boolean }): void;
  /** The answer is made, all of it, and on its way from now on. */
  made(answer: Response): Response;
  /** There will be another answer. */
  failed(): void;
};

/**
 * The delivery of an answer that hands something over: if it cannot be made, or the caller hangs up before all of it is
 * on its way, what it hands over is taken back, once. What was asked from within the app goes with the answer that it was
 * asked for.
 *
 * @example
 * const delivery = createDelivery(c, authenticator.watch);
 * delivery.ifUndelivered(() => longPoll.release(tenant, lease_token));
 * return delivery.made(answerJson(c, 200, jobs));
 */
export function createDelivery(c: ApiContext, watch: Watch): Delivery {
  // hono's own default is undefined, whatever the type of `env` says.
  const { outgoing, incoming, given_up, part_of: whole } = (c.env as ApiContext["env"] | undefined) ?? {};
  let gone: AbortController | undefined;
  let undo: (() => void) | undefined;
  /** The answer is made: from now on only a caller who hangs up matters, not one whose token ends. */
  let answered = () => {};

  const giveUp = () => gone?.abort();
  const look = () => {
    answered();
    if (outgoing && !outgoing.writableFinished) giveUp();
  };
  // Most requests never ask.
  const hungUp = (): AbortSignal => {
    if (gone) return gone.signal;
    const { signal } = (gone = new AbortController());
    answered = watch(c, (refusal) => gone?.abort(refusal));
    // It may have hung up before. An answer that waits behind another one's on its connection is not told.
    if (outgoing?.destroyed || incoming?.socket.destroyed) look();
    else outgoing?.once("close", look);
    if (given_up?.aborted) giveUp();
    else given_up?.addEventListener("abort", giveUp, { once: true });
    return signal;
  };
  /** It no longer matters: the connection, or the call that asks, may go on for long. */
  const forget = () => {
    answered();
    outgoing?.off("close", look);
    given_up?.removeEventListener("abort", giveUp);
  };

  return {
    hungUp,
    refusal() {
      const reason: unknown = gone?.signal.reason;
      return reason instanceof ProblemError ? reason : undefined;
    },
    ifUndelivered(work, { repeatable = false } = {}) {
      undo = repeatable && !whole ? undefined : once(work);
    },
    includes(work) {
      const before = undo;
      undo = before ? () => (before(), work()) : work;
    },
    made(answer) {
      answered();
      if (!undo) {
        forget();
        return answer;
      }
      whole?.includes(undo);
      if (hungUp().aborted) undo();
      else hungUp().addEventListener("abort", undo, { once: true });
      return answer;
    },
    failed() {
      forget();
      undo?.();
    },
  };
}

/** The answer it is a part of may hear of the same end. */
function once(work: () => void): () => void {
  let over = false;
  return () => {
    if (over) return;
    over = true;
    work();
  };
}
