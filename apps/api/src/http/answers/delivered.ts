import type { LeaseDesk, LeasedJob } from "@atlasqueue/core/internal";

/**
 * Make the answer that hands leased jobs over. If it cannot be made, or the caller hangs up before all of it is on its
 * way, the jobs go back with no attempt spent: nobody knows of them.
 *
 * @example
 * return delivered(deps.leaseDesk, jobs, hungUp, () => answerJson(c, 200, jobs.map(show)));
 */
export async function delivered<Answer>(
  desk: Pick<LeaseDesk, "undelivered">,
  jobs: readonly LeasedJob[],
  hungUp: AbortSignal,
  answer: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const undo = () => desk.undelivered(jobs);
  try {
    const made = await answer();
    if (hungUp.aborted) undo();
    else hungUp.addEventListener("abort", undo, { once: true });
    return made;
  } catch (error) {
    undo();
    throw error;
  }
}
