import { isWordOfApi, UnavailableError } from "../errors.ts";
import { createRepeats } from "../http/first-answer.ts";
import { mayRepeat } from "../http/retry.ts";
import { within } from "../http/time.ts";
import type { Send } from "../http/transport.ts";
import { randomKey } from "../idempotency-key.ts";
import { giveBack, type Lost } from "./give-back.ts";

/** A call that leases, under this token. `failed` is told of each try before the next one. */
export type Leasing<T> = (lease_token: string, failed: (error: unknown) => void) => Promise<T>;

/** `silent` is called each time that `answer_ms` have passed without a word from anybody. */
type Wait = { within_ms: number; answer_ms: number; signal: AbortSignal; silent: () => void };

type About = { lasts_ms: number; own_token?: string | undefined; signal?: AbortSignal | undefined };

export type LostLeases = {
  /**
   * Make a call that leases jobs; if the answer to any of its tries is lost, they go back, now and until that is answered.
   * `lasts_ms`: after that, their leases are over. `own_token`: the caller has one. `signal`: aborts the call.
   */
  leased<T>(ask: Leasing<T>, jobsOf: (answer: T) => readonly unknown[], about: About): Promise<T>;
  /** Resolves when the API has said something of all that was lost and has not been waited for yet, or the wait is over. */
  heard(wait: Wait): Promise<void>;
  /**
   * Resolves when all of it went back, or a minute after its leases have ended, not counting while the API says that its
   * database is away. Rejects with the signal's reason when that aborts; the first time in a minute tries under way end.
   */
  returned(signal?: AbortSignal): Promise<void>;
};

/** While this many are on their way back, nothing more is leased: its answer would be lost as well. */
const open_max = 10;
/** Whoever gives up waiting again within this asks now and then, and tries that are cut each time would never be answered. */
const hurry_again_ms = 60_000;
/** What fails within this was refused, and says nothing of how late an answer may be. */
const at_once_ms = 1_000;
/** So many are asked for more than once at a time. */
const repeats_max = 2;

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

  /** Resolve with the API's first word of a loss. */
  const unheard = new Set<Promise<void>>();
  let refused_at_ms = -Infinity;

  const goBack = (lost: Lost): void => {
    let hear = () => {};
    const heard = new Promise<void>((resolve) => (hear = resolve));
    const tried = (error: unknown, took_ms: number): void => {
      if (isWordOfApi(error)) hear();
      if (took_ms < at_once_ms) refused_at_ms = performance.now();
    };
    const going = giveBack(send, lost, { repeats, hurry: () => hurry.signal, tried });
    open.add(going);
    unheard.add(heard);
    void going.then(hear);
    void going.then(() => open.delete(going));
    void heard.then(() => unheard.delete(heard));
  };

  return {
    async heard({ within_ms, answer_ms, signal, silent }) {
      const all = async () => void (await Promise.all(unheard));
      const soon = () =>
        within(answer_ms, signal, all, () => new Error("silence")).then(
          () => true,
          () => false,
        );
      for (let left_ms = within_ms; !(await soon()) && !signal.aborted;) {
        left_ms -= answer_ms;
        if (left_ms < 1) break;
        if (refused_at_ms < performance.now() - answer_ms) silent();
      }
      unheard.clear();
    },
    async leased(ask, jobsOf, { lasts_ms, own_token, signal }) {
      if (open.size >= open_max)
        throw new UnavailableError(
          `the answers to ${open_max} leases were lost, and their jobs are not given back yet`,
        );
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
        if (may_have && jobsOf(answer).length === 0) goBack({ lease_token, lasts_ms, ends_at_ms });
        return answer;
      } catch (error) {
        note(error);
        if (may_have) goBack({ lease_token, lasts_ms, ends_at_ms });
        throw error;
      }
    },
    async returned(signal) {
      const all = async () => void (await Promise.all(open));
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

function randomToken(): string {
  return randomKey().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** True unless the API said that it leased nothing, or was never reached. When in doubt, true. */
function mayHaveLeased(error: unknown): boolean {
  // 409: something on the way had sent it twice.
  if (isWordOfApi(error) && error.status !== undefined && error.status < 500) return error.status === 409;
  return !mayRepeat(error, "undone");
}
