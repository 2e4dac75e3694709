/**
 * Between two looks, while jobs keep coming, or where one left something to look at: so long, and so many times as long
 * as the last one took. Otherwise twice as long after each.
 */
const rest_ms_min = 20;
const rest_times = 9;
const rest_ms_max = 1_000;
/**
 * What is missing then of the rests of slow looks is owed. So much of it is lent: a look that waited for a database that
 * was away, or a process that stood still, is followed by quick ones. Where looks are slow by themselves it is soon used up.
 */
const lent_ms_max = 120_000;
const rest_after_slow_ms_max = 60_000;
/** After a look that failed; twice as long after each, until it is as long as the look. */
const rest_after_failure_ms = 500;

export type LookPace = {
  /** Jobs came or were taken: there may be more. */
  stir(): void;
  /** How long until the next look is due. With `all_heard`, as a wait is on all lists, only once something stirs. */
  dueInMs(all_heard: boolean): number;
  /** Look, and say whether something is left to look at. What stirs meanwhile is not known to the look. */
  around(look: () => Promise<boolean>): Promise<void>;
};

/**
 * When to look again: soon after something stirred, then less and less often; and looks get a tenth of the time, over
 * some minutes. One that failed counts, too, if it was slow by itself, and not for want of a database.
 *
 * @example
 * const pace = createLookPace(() => performance.now(), (error) => error instanceof DatabaseTimeoutError);
 * if (pace.dueInMs(false) === 0) await pace.around(look);
 */
export function createLookPace(now: () => number, wasSlow: (error: unknown) => boolean): LookPace {
  let stirs = true;
  let more = false;
  let ended_at = -Infinity;
  let short_ms = rest_ms_min;
  let rest_ms = rest_ms_min;
  let owed_ms = 0;

  const ended = (took_ms: number): void => {
    const due_ms = took_ms * rest_times;
    owed_ms = Math.min(owed_ms + due_ms, lent_ms_max + rest_after_slow_ms_max);
    short_ms = Math.max(between(rest_ms_min, due_ms, rest_ms_max), owed_ms - lent_ms_max);
  };
  const failed = (took_ms: number): void => {
    short_ms = between(rest_after_failure_ms, short_ms * 2, Math.max(rest_after_failure_ms, took_ms));
  };

  return {
    stir() {
      stirs = true;
    },
    dueInMs(all_heard) {
      if (all_heard && !stirs) return Infinity;
      return Math.max(0, ended_at + (stirs || more ? short_ms : rest_ms) - now());
    },
    async around(look) {
      const began_at = now();
      const stirred = stirs;
      stirs = false;
      owed_ms = Math.max(0, owed_ms - (began_at - ended_at));
      try {
        more = await look();
        ended(now() - began_at);
        if (stirred) rest_ms = rest_ms_min;
        else if (!more) rest_ms *= 2;
      } catch (error) {
        if (wasSlow(error)) ended(now() - began_at);
        else failed(now() - began_at);
        stirs ||= stirred;
        throw error;
      } finally {
        ended_at = now();
        rest_ms = between(short_ms, rest_ms, Math.max(short_ms, rest_ms_max));
      }
    },
  };
}

const between = (min: number, value: number, max: number): number => Math.min(max, Math.max(min, value));
