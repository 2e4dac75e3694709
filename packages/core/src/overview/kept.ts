/**
 * The last answer while it is younger than `for_ms`, undefined when there was none; concurrent readers wait for the same one,
 * so that no more than one is under way.
 *
 * @example
 * const counts = kept(() => fleetCounts(deps), 15_000);
 * await counts(); // asked
 * await counts(); // the same
 */
export function kept<T>(
  ask: () => Promise<T>,
  for_ms: number,
  now: () => number = () => performance.now(),
): () => Promise<T | undefined> {
  let answer: Promise<T | undefined> | undefined;
  let asked_at = -Infinity;
  let under_way = false;
  return () => {
    if (answer && (under_way || now() - asked_at < for_ms)) return answer;
    asked_at = now();
    under_way = true;
    // Those who need the answer report the failure.
    return (answer = ask()
      .catch(() => undefined)
      .finally(() => (under_way = false)));
  };
}
