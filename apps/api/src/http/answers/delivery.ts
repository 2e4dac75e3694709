import type { ApiContext, Watch } from "../context.ts";
import { ProblemError } from "./problem.ts";

export type Delivery = {
  /** Aborts when the caller hangs up before the whole answer is on its way, or their token ends before it is made. */
  hungUp(): AbortSignal;
  /** Why the wait was ended early, if the token's end did that. */
  refusal(): ProblemError | undefined;
  /**
   * What to do if the connection is seen closed before the answer is on its way. Nothing, if it is `repeatable`: the
   * caller can ask for it again, unless this is a request from within the app.
   */
  ifUndelivered(undo: () => void, what?: { repeatable?: boolean }): void;
  /** The answer is made, all of it, and on its way from now on. */
  made(answer: Response): Response;
  /** There will be another answer. */
  failed(): void;
};

/**
 * The delivery of an answer that hands something over: if it cannot be made, or the caller hangs up before all of it is
 * on its way, what it hands over is taken back. A request from within the app goes with the connection of the one that asks.
 *
 * @example
 * const delivery = createDelivery(c, authenticator.watch);
 * delivery.ifUndelivered(() => longPoll.release(tenant, lease_token));
 * return delivery.made(answerJson(c, 200, jobs));
 */
export function createDelivery(c: ApiContext, watch: Watch): Delivery {
  // hono's own default is undefined, whatever the type of `env` says.
  const { outgoing, incoming, given_up, client_address } = (c.env as ApiContext["env"] | undefined) ?? {};
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
      undo = repeatable && client_address === undefined ? undefined : work;
    },
    made(answer) {
      answered();
      if (!undo) {
        forget();
        return answer;
      }
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
