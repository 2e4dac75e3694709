import type { ReleaseLeaseAnswer } from "@atlasqueue/contract";
import { AtlasQueueError, isDatabaseAway, isWordOfApi, TimeoutError } from "../errors.ts";
import { firstAnswer, type Repeats } from "../http/first-answer.ts";
import { backoffMs } from "../http/retry.ts";
import { pause, within } from "../http/time.ts";
import type { CallOptions, Send } from "../http/transport.ts";

/** What a healthy API needs to take a lease back, and to spare: another try is sent after that, or after a share of the lease. */
const again_ms_min = 1_000;
const again_share = 1 / 18;
/** Once the lease has ended, too. */
const again_ms_max = 10_000;
/** One that is answered by then has not been in vain. */
const try_ms_max = 60_000;
const rest_ms_max = 2_000;
/** In which a process that would end does. */
const hurried_rest_ms = 5_000;
/** No lease is ended while the database is away, nor in the three seconds after; an API that is away as well cannot say so. */
const none_ended_ms = 3_000;
const beyond_ms = 60_000;

/**
 * While a lease of so long lasts, what asks the API to take it back is sent again after this, if no answer has come.
 *
 * @example
 * triesApartMs(30_000); // 1,667
 */
export const triesApartMs = (lasts_ms: number): number =>
  Math.min(Math.max(again_ms_min, lasts_ms * again_share), again_ms_max);

/** `ends_at_ms`: when its leases have ended at the latest, on the clock of `performance.now()`. */
export type Lost = { lease_token: string; lasts_ms: number; ends_at_ms: number };

type Ways = {
  repeats: Repeats;
  /** Aborts when nobody waits for it any more. */
  hurry: () => AbortSignal;
  /** Tries have failed. */
  tried(error: unknown, took_ms: number): void;
};

/**
 * Give back what was leased under a token, until that is answered, or a minute after the leases' end. Refused by the API, or away
 * for too long: the jobs come back when their leases are ended. A third of them is left, of which a try whose answer is lost as
 * well may take only a part: others are sent beside it, often while the leases last, and rarely once they have ended, as those are
 * of no use to an API that is slow. Nor is any cut short then, which would be to do the same in vain, over and over. Never rejects.
 *
 * @example
 * await giveBack(send, { lease_token, lasts_ms: 30_000, ends_at_ms: performance.now() + 30_000 }, { repeats, hurry, tried });
 */
export async function giveBack(
  send: Send,
  { lease_token, lasts_ms, ends_at_ms }: Lost,
  { repeats, hurry, tried }: Ways,
): Promise<void> {
  /** None of its leases ends before that. */
  let away_until_ms = -Infinity;
  const untilMs = () => Math.max(ends_at_ms, away_until_ms) + beyond_ms;
  const againInMs = (): number => {
    const now_ms = performance.now();
    if (now_ms < away_until_ms) return again_ms_min;
    if (now_ms >= ends_at_ms) return again_ms_max;
    return triesApartMs(lasts_ms);
  };
  const ask = (signal: AbortSignal) => releaseLease(send, lease_token, { retries: 0, timeoutMs: try_ms_max, signal });
  const late = () => new TimeoutError("no answer to what gives a lease back");
  for (let tries = 0; ; tries += 1) {
    const hurried = hurry();
    const began_ms = performance.now();
    const left_ms = Math.min(try_ms_max, Math.max(0, untilMs() - began_ms));
    try {
      await within(left_ms, hurried, (signal) => firstAnswer(ask, againInMs, repeats, signal), late);
      return;
    } catch (error) {
      const now_ms = performance.now();
      const took_ms = now_ms - began_ms;
      tried(error, took_ms);
      if (isDatabaseAway(error)) away_until_ms = now_ms + none_ended_ms;
      if (isRefused(error) || now_ms >= untilMs()) return;
      const asked_ms = error instanceof AtlasQueueError ? (error.retryAfterMs ?? 0) : 0;
      const backoff_ms = Math.min(asked_ms + backoffMs(tries, Math.random()), rest_ms_max);
      // A gateway that gave up on a slow API took its time, which the next try would take as well.
      const rest_ms = Math.max(backoff_ms, Math.min(took_ms, againInMs()));
      await pause(hurried.aborted ? hurried_rest_ms : rest_ms, undefined, { idly: true });
    }
  }
}

/** What it says of the request, not of this moment: it would say so again. */
function isRefused(error: unknown): boolean {
  if (!isWordOfApi(error)) return false;
  const { status = 500 } = error;
  return status < 500 && status !== 408 && status !== 429;
}

export async function releaseLease(send: Send, lease_token: string, call: CallOptions | undefined): Promise<number> {
  const body = JSON.stringify({ lease_token });
  const answer = await send({ method: "POST", path: "/v1/leases/release", body, repeat: "always" }, call);
  return (answer.body as ReleaseLeaseAnswer).released;
}
