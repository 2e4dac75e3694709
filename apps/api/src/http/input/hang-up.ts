import type { ApiContext, Watch } from "../context.ts";

export type HangUp = {
  /** Its reason is a `ProblemError` if the caller is still there, but their token has ended. */
  signal: AbortSignal;
  /** The answer is made: from now on only a caller who hangs up matters. */
  answered(): void;
  /** It no longer matters: the connection, or the call that asks, may go on for long. */
  forget(): void;
};

/**
 * Aborts when the caller hangs up before its whole answer is on its way, or gives the call up, from within the app, and
 * when the token that it was let in with ends. For calls that wait, and for answers that hand something over; others end
 * by themselves.
 *
 * @example
 * const hangUp = hangUpOf(c, authenticator.watch);
 * const leases = await longPoll.lease(call, hangUp.signal).finally(hangUp.forget);
 */
export function hangUpOf(c: ApiContext, watch: Watch): HangUp {
  const gone = new AbortController();
  const answered = watch(c, (refusal) => gone.abort(refusal));
  // hono's own default is undefined, whatever the type of `env` says.
  const env: ApiContext["env"] | undefined = c.env;
  const outgoing = env?.outgoing;
  const look = () => {
    answered();
    if (outgoing && !outgoing.writableFinished) gone.abort();
  };
  // It may have hung up before. An answer that waits behind another one's on its connection is not told.
  if (outgoing?.destroyed || env?.incoming?.socket.destroyed) look();
  else outgoing?.once("close", look);
  const giveUp = () => gone.abort();
  if (env?.given_up?.aborted) giveUp();
  else env?.given_up?.addEventListener("abort", giveUp, { once: true });
  return {
    signal: gone.signal,
    answered,
    forget() {
      answered();
      outgoing?.off("close", look);
      env?.given_up?.removeEventListener("abort", giveUp);
    },
  };
}
