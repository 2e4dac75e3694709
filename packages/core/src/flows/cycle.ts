/**
 * A circle among jobs that wait for one another, each followed by one it waits for; empty when there is none. `parents`
 * has the places of those each job waits for. It takes as long as there are jobs and ties.
 *
 * @example
 * findCycle([[1], [2], [0]]); // [0, 1, 2]
 */
export function findCycle(parents: readonly (readonly number[])[]): number[] {
  const children: number[][] = parents.map(() => []);
  parents.forEach((of, at) => of.forEach((parent) => children[parent]?.push(at)));
  const open = parents.map((of) => of.length);
  const ready = open.flatMap((count, at) => (count === 0 ? [at] : []));
  // The list grows while it is walked.
  for (const at of ready)
    for (const child of children[at] ?? []) {
      open[child] = (open[child] ?? 0) - 1;
      if (open[child] === 0) ready.push(child);
    }
  // Each of those left waits for another one that is left, so following them leads into a circle.
  const walked = new Map<number, number>();
  let at = open.findIndex((count) => count > 0);
  while (at !== -1 && !walked.has(at)) {
    walked.set(at, walked.size);
    at = parents[at]?.find((parent) => (open[parent] ?? 0) > 0) ?? -1;
  }
  return [...walked.keys()].slice(walked.get(at) ?? walked.size);
}
