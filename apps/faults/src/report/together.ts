import { spread, type Figures } from "./figures.ts";

/** The figures of several runs as those of one: sums, and the spread of all recoveries. */
export function together(all: readonly Figures[]): Omit<Figures, "seed" | "commit"> {
  const sum = (read: (one: Figures) => number) => all.reduce((total, one) => total + read(one), 0);
  const sums = (read: (one: Figures) => Record<string, number>) => {
    const names = [...new Set(all.flatMap((one) => Object.keys(read(one))))];
    return Object.fromEntries(names.map((name) => [name, sum((one) => read(one)[name] ?? 0)]));
  };
  const recoveries_ms = all.flatMap((one) => one.recoveries_ms).toSorted((a, b) => a - b);
  return {
    minutes: sum(({ minutes }) => minutes),
    jobs: sum(({ jobs }) => jobs),
    ends: sums(({ ends }) => ends),
    submits: sums(({ submits }) => submits),
    handler_runs: sum(({ handler_runs }) => handler_runs),
    duplicates: sum(({ duplicates }) => duplicates),
    stale_acks_refused: sum(({ stale_acks_refused }) => stale_acks_refused),
    lost_leases: sum(({ lost_leases }) => lost_leases),
    kills: sums(({ kills }) => kills),
    faults: sums(({ faults }) => faults),
    recoveries_ms,
    recovery_ms: spread(recoveries_ms),
    violations: sums(({ violations }) => violations),
    excused: sums(({ excused }) => excused),
  };
}
