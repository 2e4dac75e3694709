import type { ApiContext } from "./context.ts";

/**
 * Aborts when the caller hangs up before it has its answer. For calls that wait; the others end by themselves.
 *
 * @example
 * const leases = await desk.lease(call, hangUpOf(c));
 */
export function hangUpOf(c: ApiContext): AbortSignal {
  const gone = new AbortController();
  // hono's own default is undefined, whatever the type of `env` says.
  const env: ApiContext["env"] | undefined = c.env;
  const outgoing = env?.outgoing;
  outgoing?.once("close", () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return gone.signal;
}
