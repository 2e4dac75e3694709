/** The longest time between two of these moments, or the fault and the next, counting what ended after the fault. */
export function longestSilence(times_ms: readonly number[], fault_at_ms: number): number {
  const sorted = times_ms.toSorted((one, other) => one - other);
  let longest = 0;
  sorted.forEach((at, index) => {
    if (at > fault_at_ms) longest = Math.max(longest, at - Math.max(sorted[index - 1] ?? fault_at_ms, fault_at_ms));
  });
  return Math.round(longest);
}
