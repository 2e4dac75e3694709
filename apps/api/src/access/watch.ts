import { ProblemError } from "../http/answers/problem.ts";
import type { ApiContext, Authenticator, Watch } from "../http/context.ts";

/** The memory of tokens is asked, which asks the database once a few seconds. */
const look_ms = 500;

type Watched = { c: ApiContext; ended(refusal: Error): void };

/**
 * Calls that last, by what their callers showed: a thousand calls of one token are one question.
 *
 * @example
 * const watch = createWatch(callerOf);
 * const unwatch = watch(c, (refusal) => gone.abort(refusal));
 */
export function createWatch(callerOf: Authenticator["callerOf"]): Watch {
  const watched = new Map<string, Set<Watched>>();
  let looking: NodeJS.Timeout | undefined;

  const endIfRefused = async (calls: ReadonlySet<Watched>): Promise<void> => {
    const [first] = calls;
    const refusal = first && (await refusalOf(callerOf, first.c));
    if (refusal) for (const { ended } of calls) ended(refusal);
  };
  const look = (): void => {
    for (const calls of watched.values()) void endIfRefused(calls);
    if (watched.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  };

  return (c, ended) => {
    const { session_hash, token_id } = c.get("caller") ?? {};
    const shown = session_hash ?? token_id;
    if (shown === undefined) return () => {};
    const call = { c, ended };
    const calls = watched.get(shown) ?? new Set();
    watched.set(shown, calls.add(call));
    looking ??= setInterval(look, look_ms).unref();
    return () => {
      calls.delete(call);
      if (calls.size === 0 && watched.get(shown) === calls) watched.delete(shown);
    };
  };
}

/** Why a caller would not be let in any more. Anything else, such as a database that is down, is no reason. */
async function refusalOf(callerOf: Authenticator["callerOf"], c: ApiContext): Promise<ProblemError | undefined> {
  try {
    await callerOf(c);
    return undefined;
  } catch (error) {
    return error instanceof ProblemError && error.kind === "unauthorized" ? error : undefined;
  }
}
