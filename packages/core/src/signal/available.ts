import { SignalUnavailableError } from "./signal.ts";

/** Runs a command; whatever it fails with, Redis cannot be used now. */
export type Available = <T>(command: () => Promise<T>) => Promise<T>;

/** What any failure of a command is to the caller. */
export function unavailable(error: unknown): SignalUnavailableError {
  return new SignalUnavailableError(error instanceof Error ? error.message : String(error), { cause: error });
}
