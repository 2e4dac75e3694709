/** Of a lease: an answer that takes longer than the fastest by so much is late. */
const late_share = 1 / 12;
const late_ms_min = 250;
/** Of what may be held: so many more once answers are in time again. */
const growth_share = 1 / 2;
/**
 * It grows again after so long, or a third of a lease: what is held now costs the API something only as it is renewed. And as much
 * as half of that sooner or later, so that workers that begin at the same time, as an API is back, do not go on in step.
 */
const growth_ms_max = 2_500;
/** One job is asked for after so long, or a lease, where none may be: how the answer comes tells how things are now. */
const rest_ms_max = 5_000;
/** The same where the last one was late. */
const late_rest_ms_max = 30_000;
/** If its answer is in time, so many more than are held may be. */
const beyond_share = 1 / 8;
/** Answers among which the fastest is looked for: a way to the API that is longer than it was is learned in the end. */
const answers_max = 200;
/** So many of the last ones must be late: fewer may be of one slow process among several behind the same address. */
const late_min = 3;
const looked_at = 4;

/** How many jobs a worker may hold at once. */
export type Allowance = {
  /** An answer that leases has come, after which so many are held; `took_ms`: without what the API has waited for jobs. */
  answered(took_ms: number, held: number): void;
  /** None came in time. */
  unanswered(): void;
  /** May be below 0. While no answer is late, what has been handled and is not settled yet does not count. */
  left(held: number): number;
  /** So long after the last time jobs were asked for, one may be asked for even if none is left. */
  restMs(): number;
};

/**
 * How many jobs a worker may hold at once: half as many after each answer that was late, where three of the last four were,
 * and half as many more, but not at once, with those that are not. What is held must be renewed: workers that lease all that they
 * have slots for keep an API that has fallen behind from ever catching up, as then it answers nothing but renewals, and those too
 * late. What counts as late is measured from the fastest of the last answers, so that a long way to the API costs nothing.
 *
 * @example
 * const allowance = createAllowance({ concurrency: 10, lease_ms: 30_000 });
 * for (const took_ms of [100, 2_700, 2_800, 2_900]) allowance.answered(took_ms, 3);
 * allowance.left(3); // 2
 */
export function createAllowance({ concurrency, lease_ms }: { concurrency: number; lease_ms: number }): Allowance {
  const late_ms = Math.max(late_ms_min, lease_ms * late_share);
  const growth_ms = Math.min(lease_ms / 3, growth_ms_max);
  let allowed = concurrency;
  let grows_at_ms = -Infinity;
  const recent_ms: number[] = [];
  let were_late: boolean[] = [];
  const isLate = () => were_late.at(-1) === true;
  const noteLate = (late: boolean): void => {
    were_late = [...were_late, late].slice(-looked_at);
    if (late && were_late.filter(Boolean).length >= late_min) allowed = Math.max(1, allowed / 2);
  };
  return {
    answered(took_ms, held) {
      recent_ms.push(took_ms);
      if (recent_ms.length > answers_max) recent_ms.shift();
      noteLate(took_ms - Math.min(...recent_ms) > late_ms);
      const now_ms = performance.now();
      if (isLate() || now_ms < grows_at_ms) return;
      grows_at_ms = now_ms + growth_ms * (0.5 + Math.random());
      allowed = Math.min(concurrency, Math.max(grown(allowed), held + Math.max(1, held * beyond_share)));
    },
    unanswered: () => noteLate(true),
    left: (held) => (allowed < concurrency ? Math.floor(allowed) - held : concurrency),
    restMs: () => Math.min(lease_ms, isLate() ? late_rest_ms_max : rest_ms_max),
  };
}

const grown = (jobs: number): number => jobs + Math.max(1, jobs * growth_share);
