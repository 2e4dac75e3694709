import { setTimeout as delay } from "node:timers/promises";

export type EventuallyOptions = {
  /** Default 60,000: a ceiling that only a busy machine comes near. */
  readonly timeout_ms?: number | undefined;
  /** Default 25. */
  readonly interval_ms?: number | undefined;
  /** What was waited for, put before the last error's message. */
  readonly message?: string | undefined;
};

/**
 * Tries a probe or an assertion until it neither throws nor returns false, and returns what it returned. On timeout it
 * throws the probe's last error, with how long it waited; a probe that hangs counts as failed.
 *
 * @example
 * await eventually(async () => expect((await client.get(id)).state).toBe("succeeded"));
 * await eventually(() => server.requests.length === 3, { timeout_ms: 2_000 });
 */
export async function eventually<Result>(
  probe: () => Result | false | Promise<Result | false>,
  { timeout_ms = 60_000, interval_ms = 25, message }: EventuallyOptions = {},
): Promise<Result> {
  // Not Date: tests replace it with other clocks.
  const start = performance.now();
  const waited_ms = () => Math.round(performance.now() - start);
  let last = new Error("the probe never answered");
  for (let tries = 1; ; tries++) {
    try {
      const result = await before(Math.max(timeout_ms - waited_ms(), 0), probe, last);
      if (result !== false) return result;
      last = new Error("the probe returned false");
    } catch (error) {
      last = error instanceof Error ? error : new Error(String(error));
    }
    if (waited_ms() + interval_ms > timeout_ms) throw tell(last, { message, tries, waited_ms: waited_ms() });
    await delay(interval_ms);
  }
}

/**
 * Holds the code to a time that a busy machine may exceed now and then: a busy machine slows some tries, slow code
 * slows them all. So one of ten tries in time is enough. `measure` does it all once and returns how many milliseconds
 * it took; its assertions apply to every try.
 *
 * @example
 * await inTime(2_000, async () => (await submit()).ms);
 */
export async function inTime(ms_max: number, measure: () => Promise<number>): Promise<void> {
  const took: number[] = [];
  while (took.length < 10) {
    const ms = await measure();
    if (ms < ms_max) return;
    took.push(Math.round(ms));
  }
  throw new Error(`not once within ${ms_max} ms; the tries took ${took.join(", ")} ms`);
}

/** One try, within the remaining time; a probe still running at its end fails with the previous error. */
async function before<Result>(left_ms: number, probe: () => Result | Promise<Result>, last: Error): Promise<Result> {
  const late = new AbortController();
  const timeout = delay(left_ms, undefined, { signal: late.signal }).then(() => Promise.reject(last));
  timeout.catch(() => {});
  try {
    return await Promise.race([probe(), timeout]);
  } finally {
    late.abort();
  }
}

/** The error itself is kept, so that vitest still shows its diff. */
function tell(error: Error, facts: { message: string | undefined; tries: number; waited_ms: number }): Error {
  const prefix = facts.message === undefined ? "" : `${facts.message}: `;
  error.message = `${prefix}${error.message} (waited ${facts.waited_ms} ms, ${facts.tries} tries)`;
  return error;
}
