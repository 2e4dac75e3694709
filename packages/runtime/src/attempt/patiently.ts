import { pause, restMs } from "../waiting/pause.ts";

export type Patience = {
  /** Throws once the attempt is over, whether or not its handler heeds that. */
  check(): void;
  /** Ends a rest when the attempt is over. */
  signal?: AbortSignal;
  /** Made for each question: whether its failure may pass. `asked_at` is on the clock of `performance.now()`. */
  judge(): (error: unknown, asked_at: number) => boolean;
  /** A try failed, and there will be another. */
  failed(error: unknown): void;
};

/**
 * Ask for what a handler needs until there is an answer. Rejects when the attempt is over, and with a failure that does not
 * pass.
 *
 * @example
 * const steps = await patiently(patience, () => calls.steps(id));
 */
export async function patiently<T>(patience: Patience, ask: () => Promise<T>): Promise<T> {
  const mayPass = patience.judge();
  for (let failures = 1; ; failures += 1) {
    patience.check();
    const asked_at = performance.now();
    try {
      return await ask();
    } catch (error) {
      if (!mayPass(error, asked_at)) throw error;
      patience.failed(error);
      await pause(restMs(failures), patience.signal);
    }
  }
}
