import { envOf, type ApiContext, type Watch } from "../context.ts";
import { ProblemError } from "./problem.ts";

export type Delivery = {
  /** Aborts when the caller hangs up before the whole answer is on its way, or their token ends before it is made. */
  hungUp(): AbortSignal;
  /** Why the wait was ended early, if the token's end did that. */
  refusal(): ProblemError | undefined;
  /** The answer is made, or there will be another: it no longer matters who listens. */
  over(): void;
};

/**
 * Whether the caller still waits for the answer. A request that the app makes to itself ends with the request that made it.
 *
 * @example
 * const delivery = createDelivery(c, authenticator.watch);
 * await wait(delivery.hungUp());
 */
export function createDelivery(c: ApiContext, watch: Watch): Delivery {
  const { outgoing, incoming, given_up } = envOf(c);
  let gone: AbortController | undefined;
  let unwatch = () => {};

  const giveUp = () => gone?.abort();
  const look = () => {
    unwatch();
    if (outgoing && !outgoing.writableFinished) giveUp();
  };
  return {
    // Most requests never ask.
    hungUp() {
      if (gone) return gone.signal;
      const { signal } = (gone = new AbortController());
      unwatch = watch(c, (refusal) => gone?.abort(refusal));
      // The caller may have hung up before. A response queued behind another one on its connection gets no `close`.
      if (outgoing?.destroyed || incoming?.socket.destroyed) look();
      else outgoing?.once("close", look);
      if (given_up?.aborted) giveUp();
      else given_up?.addEventListener("abort", giveUp, { once: true });
      return signal;
    },
    refusal() {
      const reason: unknown = gone?.signal.reason;
      return reason instanceof ProblemError ? reason : undefined;
    },
    // The connection, or the call that asks, may go on for long.
    over() {
      if (!gone) return;
      unwatch();
      outgoing?.off("close", look);
      given_up?.removeEventListener("abort", giveUp);
    },
  };
}
