import { KeysContendedError } from "../database/errors.ts";
import { isTakenMeanwhile } from "../database/refuse.ts";
import { pause } from "../pause.ts";

const tries_max = 20;
const rest_ms_max = 20;

/**
 * A look and a statement that undoes itself when others took one of its keys in between: then look again. `once` may
 * also say by undefined that it came too late. Throws when the `tries` did not do.
 *
 * @example
 * const outcomes = await lookAgain(() => storeAll(deps, drafts, options));
 */
export async function lookAgain<T>(once: () => Promise<T | undefined>, tries = tries_max): Promise<T> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (attempt > 1) await pause(rest_ms_max * Math.random() * attempt);
    const done = await once().catch((error: unknown) => {
      if (isTakenMeanwhile(error)) return undefined;
      throw error;
    });
    if (done !== undefined) return done;
  }
  throw new KeysContendedError();
}
