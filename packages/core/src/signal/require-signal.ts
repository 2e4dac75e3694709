import { SettingError } from "../program/settings.ts";
import { SignalTooOldError, SignalUnavailableError, type Signal } from "./signal.ts";

/**
 * For the start of a program, where a person reads what is wrong: throws `SettingError` when the Redis is too old. One
 * that is away or takes no writes is waited for while the program runs.
 *
 * @example
 * await requireSignal(signal);
 */
export async function requireSignal(signal: Signal): Promise<void> {
  try {
    await signal.check();
  } catch (error) {
    if (error instanceof SignalTooOldError) throw new SettingError(`REDIS_URL: ${error.message}`);
    if (!(error instanceof SignalUnavailableError)) throw error;
  }
}
