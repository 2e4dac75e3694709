import { SettingError } from "../settings/setting-error.ts";
import { SignalMisfitError, SignalUnavailableError, type Signal } from "./signal.ts";

/** Why the signal cannot be used, for people; undefined if it can. */
export function signalTrouble(signal: Signal): Promise<string | undefined> {
  return signal.check().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/**
 * For a program's start, where a person reads what is wrong: throws `SettingError` when the Redis is too old,
 * or not of the kind that REDIS_URL says. If it is
 * away or takes no writes, the program runs and waits for it.
 *
 * @example
 * await requireSignal(signal);
 */
export async function requireSignal(signal: Signal): Promise<void> {
  try {
    await signal.check();
  } catch (error) {
    if (error instanceof SignalMisfitError) throw new SettingError(`REDIS_URL: ${error.message}`);
    if (!(error instanceof SignalUnavailableError)) throw error;
  }
}
