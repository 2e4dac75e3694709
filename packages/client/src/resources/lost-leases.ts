import type { ReleaseLeaseAnswer } from "@atlasqueue/contract";
import {
  AtlasQueueError,
  isDatabaseAway,
  isWordOfApi,
  TimeoutError,
  UnavailableError,
  ValidationError,
} from "../errors.ts";
import { createRepeats, firstAnswer, type Repeats } from "../http/first-answer.ts";
import { backoffMs, mayRepeat } from "../http/retry.ts";
import { pause, within } from "../http/time.ts";
import type { CallOptions, Send } from "../http/transport.ts";
import { randomKey } from "../idempotency-key.ts";

/**
 * A call that leases, under this token: an API of an earlier version takes none. `failed` is told of each try before the
 * next one.
 */
export type Leasing<T> = (lease_token: string | undefined, failed: (error: unknown) => void) => Promise<T>;

type About = { lasts_ms: number; own_token?: string | undefined; signal?: AbortSignal | undefined };

export type LostLeases = {
  /**
   * Make a call that leases jobs; if the answer to any of its tries is lost, they go back, now and until that is answered.
   * `lasts_ms`: after that, their leases are over. `own_token`: the caller has one. `signal`: aborts the call.
   */
  leased<T>(ask: Leasing<T>, jobsOf: (answer: T) => readonly unknown[], about: About): Promise<T>;
  /**
   * Resolves when all that is on its way back now has gone back, or a minute after its leases have ended, not counting
   * while the API says that its database is away. Keeps no process from ending.
   */
  back(): Promise<unknown>;
  /**
   * As `back`, for a process that would end: the first abort of `signal` in a minute ends the tries under way. Rejects
   * with its reason then.
   */
  returned(signal?: AbortSignal): Promise<void>;
};

/** While this many are on their way back, nothing more is leased: its answer would be lost as well. */
const open_max = 10;
/** What a healthy API needs to take a lease back, and to spare: another try is sent after that, or after a share of the lease. */
const again_ms_min = 1_000;
const again_share = 1 / 18;
/** Once the lease has ended. */
const again_after_ms_min = 10_000;
const again_after_share = 1 / 9;
/** One that is answered by then has not been in vain. */
const try_ms_max = 60_000;
/** In which a process that would end does. */
const hurried_rest_ms = 5_000;
/** Whoever gives up waiting again within this asks now and then, and tries that are cut each time would never be answered. */
const hurry_again_ms = 60_000;
/** So many are asked for more than once at a time. */
const repeats_max = 2;
/** No lease is ended while the database is away, nor in the three seconds after; an API that is away as well cannot say so. */
const none_ended_ms = 3_000;
const beyond_ms = 60_000;
const rest_ms_max = 2_000;
/** During an upgrade other APIs behind the same address take tokens already, and soon this one will. */
const without_ms = 300_000;

/**
 * Every lease is asked for under a token made here, so that it can be taken back when no answer comes: a job must not
 * lose an attempt that no handler saw.
 *
 * @example
 * const lost = createLostLeases(send);
 * const jobs = await lost.leased((lease_token) => ask({ lease_token }), (answer) => answer, { lasts_ms: 30_000 });
 */
export function createLostLeases(send: Send): LostLeases {
  const open = new Set<Promise<unknown>>();
  const repeats = createRepeats(() => repeats_max);
  /** Aborts when nobody waits for what goes back: tries under way must not keep a process that would end. */
  let hurry = new AbortController();
  let hurried_at_ms = -Infinity;
  let without_until_ms = -Infinity;

  const giveBack = (lost: Lost): void => {
    const going = untilAnswered(send, lost, { repeats, hurry: () => hurry.signal });
    open.add(going);
    void going.then(() => open.delete(going));
  };

  const back = () => Promise.all(open);

  return {
    back,
    async leased(ask, jobsOf, { lasts_ms, own_token, signal }) {
      if (open.size >= open_max)
        throw new UnavailableError(
          `the answers to ${open_max} leases were lost, and their jobs are not given back yet`,
        );
      if (performance.now() < without_until_ms) return ask(undefined, () => {});
      const lease_token = own_token ?? randomToken();
      // Of several tries the last error says nothing of those before it.
      let may_have = false;
      // Aborted, it says nothing of an answer: its error is whatever the caller gave as a reason.
      const note = (error: unknown) => void (may_have ||= signal?.aborted === true || mayHaveLeased(error));
      let ends_at_ms = performance.now() + lasts_ms;
      const failed = (error: unknown) => {
        note(error);
        ends_at_ms = performance.now() + lasts_ms;
      };
      try {
        const answer = await ask(lease_token, failed);
        // A repeated try leases nothing again.
        if (may_have && jobsOf(answer).length === 0) giveBack({ lease_token, lasts_ms, ends_at_ms });
        return answer;
      } catch (error) {
        note(error);
        if (may_have) giveBack({ lease_token, lasts_ms, ends_at_ms });
        if (own_token !== undefined || !isUnknownField(error)) throw error;
        without_until_ms = performance.now() + without_ms;
        return ask(undefined, () => {});
      }
    },
    async returned(signal) {
      const all = async () => void (await back());
      // No timer of those that give back keeps a process from ending.
      const stay = setInterval(() => {}, 60_000);
      try {
        await within(Infinity, signal, all, () => new Error("never"));
      } catch (error) {
        const now = performance.now();
        if (now >= hurried_at_ms + hurry_again_ms) {
          hurried_at_ms = now;
          hurry.abort();
          hurry = new AbortController();
        }
        throw error;
      } finally {
        clearInterval(stay);
      }
    },
  };
}

/** `ends_at_ms`: when its leases have ended at the latest, on the clock of `performance.now()`. */
type Lost = { lease_token: string; lasts_ms: number; ends_at_ms: number };

/**
 * Refused by the API, or away for too long: the jobs come back when their leases are ended. A third of them is left, of which a try
 * whose answer is lost as well may take only a part: others are sent beside it, often while the leases last, and rarely once they
 * have ended, as those are of no use to an API that is slow. Nor is any cut short then, which would be to do the same in vain, over
 * and over.
 */
async function untilAnswered(
  send: Send,
  { lease_token, lasts_ms, ends_at_ms }: Lost,
  { repeats, hurry }: { repeats: Repeats; hurry: () => AbortSignal },
): Promise<void> {
  let over_at_ms = ends_at_ms;
  const againInMs = () =>
    performance.now() < over_at_ms
      ? Math.max(again_ms_min, lasts_ms * again_share)
      : Math.max(again_after_ms_min, lasts_ms * again_after_share);
  const ask = (signal: AbortSignal) => releaseLease(send, lease_token, { retries: 0, timeoutMs: try_ms_max, signal });
  const late = () => new TimeoutError("no answer to what gives a lease back");
  for (let tries = 0; ; tries += 1) {
    const hurried = hurry();
    const began_ms = performance.now();
    const left_ms = Math.min(try_ms_max, Math.max(0, over_at_ms + beyond_ms - began_ms));
    try {
      await within(left_ms, hurried, (signal) => firstAnswer(ask, againInMs, repeats, signal), late);
      return;
    } catch (error) {
      const now_ms = performance.now();
      if (isDatabaseAway(error)) over_at_ms = Math.max(over_at_ms, now_ms + none_ended_ms);
      if (isRefused(error) || now_ms >= over_at_ms + beyond_ms) return;
      const asked_ms = error instanceof AtlasQueueError ? (error.retryAfterMs ?? 0) : 0;
      const backoff_ms = Math.min(asked_ms + backoffMs(tries, Math.random()), rest_ms_max);
      // A gateway that gave up on a slow API took its time, which the next try would take as well.
      const rest_ms = Math.max(backoff_ms, Math.min(now_ms - began_ms, againInMs()));
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

function randomToken(): string {
  return randomKey().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const isUnknownField = (error: unknown) =>
  error instanceof ValidationError && error.errors.some(({ pointer }) => /^(\/next)?\/lease_token$/.test(pointer));

/** True unless the API said that it leased nothing, or was never reached. When in doubt, true. */
function mayHaveLeased(error: unknown): boolean {
  // 409: something on the way had sent it twice.
  if (isWordOfApi(error) && error.status !== undefined && error.status < 500) return error.status === 409;
  return !mayRepeat(error, "undone");
}
