import type { ApiContext } from "../context.ts";

/**
 * Aborts when the caller hangs up before its whole answer is on its way, or gives the call up, from within the app. For
 * calls that wait, and for answers that hand something over; others end by themselves.
 *
 * @example
 * const leases = await longPoll.lease(call, hangUpOf(c));
 */
export function hangUpOf(c: ApiContext): AbortSignal {
  const gone = new AbortController();
  // hono's own default is undefined, whatever the type of `env` says.
  const env: ApiContext["env"] | undefined = c.env;
  const outgoing = env?.outgoing;
  const look = () => {
    if (outgoing && !outgoing.writableFinished) gone.abort();
  };
  // It may have hung up before. An answer that waits behind another one's on its connection is not told.
  if (outgoing?.destroyed || env?.incoming?.socket.destroyed) look();
  else outgoing?.once("close", look);
  const giveUp = () => gone.abort();
  if (env?.given_up?.aborted) giveUp();
  else env?.given_up?.addEventListener("abort", giveUp, { once: true });
  return gone.signal;
}
