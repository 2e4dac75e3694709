/** A line of a handler's record: the order of the lines is the order in which it happened. */
export type Run = { what: "start" | "end"; job_id: string; attempt: number; pid: number };

/** The lines of the record that the handlers keep. */
export function readRuns(text: string): Run[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [what, job_id = "", attempt, pid] = line.split(" ");
    return { what: what === "start" ? what : "end", job_id, attempt: Number(attempt), pid: Number(pid) };
  });
}

/** In which order those jobs ran: one that ran again right after itself stands there once. */
export function orderOf(runs: readonly Run[], ids: ReadonlySet<string>): string[] {
  const starts = runs.filter(({ what, job_id }) => what === "start" && ids.has(job_id)).map(({ job_id }) => job_id);
  return starts.filter((id, at) => id !== starts[at - 1]);
}

/** How many of those jobs' runs there were at once, at most. What a killed process left without an end does not count. */
export function mostAtOnce(
  runs: readonly Run[],
  ids: ReadonlySet<string>,
  killed: ReadonlySet<number> = new Set(),
): number {
  const keyOf = ({ job_id, attempt, pid }: Run) => `${job_id} ${attempt} ${pid}`;
  const ended = new Set(runs.filter(({ what }) => what === "end").map(keyOf));
  const open = new Set<string>();
  let most = 0;
  for (const run of runs) {
    if (!ids.has(run.job_id) || (killed.has(run.pid) && !ended.has(keyOf(run)))) continue;
    if (run.what === "start") open.add(keyOf(run));
    else open.delete(keyOf(run));
    most = Math.max(most, open.size);
  }
  return most;
}

/** Which of those jobs ran more than once. */
export function repeated(runs: readonly Run[], ids: ReadonlySet<string>): string[] {
  const starts = runs.filter(({ what, job_id }) => what === "start" && ids.has(job_id));
  return [...Map.groupBy(starts, ({ job_id }) => job_id)].filter(([, of]) => of.length > 1).map(([id]) => id);
}

/** The longest time between two of these moments, or the fault and the next, counting what ended after the fault. */
export function longestSilence(times_ms: readonly number[], fault_at_ms: number): number {
  const sorted = times_ms.toSorted((one, other) => one - other);
  let longest = 0;
  sorted.forEach((at, index) => {
    if (at > fault_at_ms) longest = Math.max(longest, at - Math.max(sorted[index - 1] ?? fault_at_ms, fault_at_ms));
  });
  return Math.round(longest);
}
