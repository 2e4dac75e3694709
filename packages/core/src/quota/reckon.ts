import { row_bytes, type Stored } from "./look.ts";

/** How much so many of a tenant's jobs take up. */
export type Sizes = { jobs: number; bytes: number };

/** What one process knows of what a tenant stores, as of its last look. */
export type Reckoning = {
  bytes: number;
  mean_bytes: number;
  /** The rows that the last looks came upon, older ones faded. */
  sampled: Sizes;
  /** What this process has let in, faded likewise, and no more jobs than there are. The samples show it only by and by. */
  recent: Sizes;
};

export const nothing: Sizes = { jobs: 0, bytes: 0 };
export const nothingKnown: Reckoning = { bytes: 0, mean_bytes: 0, sampled: nothing, recent: nothing };

/** About as many looks are remembered: one look at a large table finds few of a tenant's jobs, and those side by side. */
const remembered_looks = 30;

/**
 * What a tenant stores: its exact number of jobs, times the mean size of those that the last looks came upon. What was let
 * in meanwhile and is larger counts as well, and where the looks came upon none, its mean counts. `looks` is how many
 * looks' time has passed since the last one, `let_in` what was let in.
 *
 * @example
 * const [found] = await lookAtStored(deps, ["default"]);
 * const { bytes } = reckon(nothingKnown, found, { let_in: { jobs: 1, bytes: 2_000 }, looks: 1 });
 */
export function reckon(
  known: Reckoning,
  found: Stored,
  { let_in, looks }: { let_in: Sizes; looks: number },
): Reckoning {
  const jobs = Math.max(0, found.jobs);
  // A small table is read whole, and leaves nothing to remember.
  const share = jobs > 0 ? Math.min(1, found.sampled / jobs) : 1;
  const kept = Math.min(1 - share, remembered_looks / (remembered_looks + looks));
  const seen = { jobs: found.sampled, bytes: found.sampled * (found.mean_bytes ?? 0) };
  const sampled = plus(times(known.sampled, kept), seen);
  const rows = { jobs: 0, bytes: let_in.jobs * row_bytes };
  const recent = share === 1 ? nothing : atMost(jobs, plus(times(known.recent, kept), plus(let_in, rows)));
  const mean_bytes = meanOf(sampled) ?? meanOf(recent) ?? known.mean_bytes;
  // As average ones they are in `jobs * mean_bytes` already.
  const larger = Math.max(0, recent.bytes - recent.jobs * mean_bytes);
  return { bytes: jobs * mean_bytes + larger + found.kept_bytes, mean_bytes, sampled, recent };
}

export const plus = (one: Sizes, other: Sizes): Sizes => ({
  jobs: one.jobs + other.jobs,
  bytes: one.bytes + other.bytes,
});
export const minus = (one: Sizes, other: Sizes): Sizes => plus(one, times(other, -1));

const times = ({ jobs, bytes }: Sizes, part: number): Sizes => ({ jobs: jobs * part, bytes: bytes * part });
/** As many, of the same mean. */
const atMost = (jobs: number, sizes: Sizes): Sizes => (sizes.jobs > jobs ? times(sizes, jobs / sizes.jobs) : sizes);
const meanOf = ({ jobs, bytes }: Sizes): number | undefined => (jobs > 0 ? bytes / jobs : undefined);
