import { isLocked, KeysContendedError } from "../database/errors.ts";
import { isTakenMeanwhile } from "../database/refuse.ts";
import { pause } from "../pause.ts";

const tries_max = 20;
const rest_ms_max = 20;

/**
 * A look and a statement that undoes itself when others took one of its keys in between: then look again. `once` may
 * also say by undefined that it came too late. When it meets a lock, it is tried once more with its groups `postponed`, and
 * when that was stored, `onPostponed` is called. Throws when the `tries` did not do.
 *
 * @example
 * const outcomes = await lookAgain((postponed) => storeAll(deps, drafts, { ...options, postponed }), { onPostponed });
 */
export async function lookAgain<T>(
  once: (postponed: boolean) => Promise<T | undefined>,
  { tries = tries_max, onPostponed }: { tries?: number; onPostponed?: (() => void) | undefined } = {},
): Promise<T> {
  let postponed = false;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (attempt > 1) await pause(rest_ms_max * Math.random() * attempt);
    try {
      const done = await once(postponed);
      if (done === undefined) continue;
      if (postponed) onPostponed?.();
      return done;
    } catch (error) {
      if (isLocked(error) && !postponed) postponed = true;
      else if (!isTakenMeanwhile(error)) throw error;
    }
  }
  throw new KeysContendedError();
}
