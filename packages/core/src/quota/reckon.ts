import { row_bytes, type Stored } from "./look.ts";

/** How much so many of a tenant's jobs take up. */
export type Sizes = { jobs: number; bytes: number };

/** What one process knows of what a tenant stores, as of its last look. */
export type Reckoning = {
  bytes: number;
  /** The rows that the last looks came upon, older ones faded. */
  sampled: Sizes;
  /** What this process has let in, but no more jobs than there are: those that are gone were average ones. */
  taken: Sizes;
  /** The same of the last looks, faded as `sampled` is: the samples show it only by and by. */
  recent: Sizes;
};

export const nothing: Sizes = { jobs: 0, bytes: 0 };
export const nothingKnown: Reckoning = { bytes: 0, sampled: nothing, taken: nothing, recent: nothing };

/** With fewer jobs in the samples, what this process has taken in counts too. */
const sampled_min = 30;
/** About as many looks are remembered: one look at a large table finds few of a tenant's jobs, and those side by side. */
const remembered_looks = 30;

/**
 * What a tenant stores: its exact number of jobs, times their mean size. The mean is of those that the last looks came
 * upon, and what was let in meanwhile and is larger counts beside it. Where they came upon few, it is the mean of what
 * this process has let in. `looks` is how many looks' time has passed since the last one, `let_in` what was let in.
 *
 * @example
 * const [found] = await lookAtStored(deps, ["default"]);
 * const { bytes } = reckon(nothingKnown, found, { let_in: { jobs: 1, bytes: 2_000 }, looks: 1 });
 */
export function reckon(
  known: Reckoning,
  found: Stored,
  { let_in: sent, looks }: { let_in: Sizes; looks: number },
): Reckoning {
  const { jobs } = found;
  // A small table is read whole, and leaves nothing to remember.
  const share = jobs > 0 ? Math.min(1, found.sampled / jobs) : 1;
  const kept = Math.min(1 - share, remembered_looks / (remembered_looks + looks));
  const let_in = { jobs: sent.jobs, bytes: sent.bytes + sent.jobs * row_bytes };
  const seen = { jobs: found.sampled, bytes: found.sampled * (found.mean_bytes ?? 0) };
  const sampled = plus(atMost(jobs - seen.jobs, times(known.sampled, kept)), seen);
  const taken = atMost(jobs, plus(known.taken, let_in));
  const recent = atMost(jobs, times(plus(known.recent, let_in), kept));
  const trust = taken.jobs === 0 ? 1 : Math.min(1, Math.max(share, sampled.jobs / sampled_min));
  const mean = trust * meanOf(sampled) + (1 - trust) * meanOf(taken);
  // As average ones they are in `jobs * mean` already.
  const larger = Math.max(0, recent.bytes - recent.jobs * mean);
  return { bytes: jobs * mean + trust * larger + found.kept_bytes, sampled, taken, recent };
}

export const plus = (one: Sizes, other: Sizes): Sizes => ({
  jobs: one.jobs + other.jobs,
  bytes: one.bytes + other.bytes,
});
export const minus = (one: Sizes, other: Sizes): Sizes => plus(one, times(other, -1));

const times = ({ jobs, bytes }: Sizes, part: number): Sizes => ({ jobs: jobs * part, bytes: bytes * part });
/** As many, of the same mean. None for less than none: a look may find fewer jobs than it came upon. */
const atMost = (jobs: number, sizes: Sizes): Sizes => {
  const jobs_max = Math.max(0, jobs);
  return sizes.jobs > jobs_max ? times(sizes, jobs_max / sizes.jobs) : sizes;
};
const meanOf = ({ jobs, bytes }: Sizes): number => (jobs > 0 ? bytes / jobs : 0);
