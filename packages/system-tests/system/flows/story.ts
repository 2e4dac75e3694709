import type { Record } from "./record.ts";
import type { Fault } from "./invariants.ts";

const told_max = 3;

/** What went wrong, and all that happened to those jobs and their parents, in order. */
export function tellFaults(record: Record, faults: readonly Fault[]): string {
  const told = faults.slice(0, told_max).map(({ job_id, what }) => {
    const job = record.jobs.get(job_id);
    const parents = job?.parents.flatMap((id) => record.jobs.get(id) ?? []) ?? [];
    const head = `${job?.name} (${job_id}) ${what}; on_parent_failure: ${job?.on_parent_failure}`;
    const waiting = job?.edges.map(({ parent, failed }) => `${nameOf(record, parent)}${failed ? " (failed)" : ""}`);
    return [
      head,
      `waits for: ${waiting?.join(", ") || "no one"}`,
      ...linesOf(record, [job_id, ...parents.map(({ id }) => id)]),
    ].join("\n  ");
  });
  const rest = faults.slice(told_max).map(({ job_id, what }) => `${nameOf(record, job_id)} ${what}`);
  return [...told, ...rest].join("\n");
}

const nameOf = ({ jobs }: Record, id: string) => jobs.get(id)?.name ?? id;

function linesOf(record: Record, ids: readonly string[]): string[] {
  const jobs = ids.flatMap((id) => record.jobs.get(id) ?? []);
  const flows = new Set(jobs.map(({ flow_id }) => flow_id));
  const meant = ({ job_id = "", flow_id = "" }) => ids.includes(job_id) || flows.has(flow_id);
  const events = [
    ...jobs.flatMap(({ name, moves }) =>
      moves.map(({ at_ms, was, status }) => [at_ms, `${name}: ${was ?? "new"} → ${status}`] as const),
    ),
    ...jobs.flatMap(({ name, runs }) =>
      runs.map(
        ({ started_ms, failed }) => [started_ms, `${name}: its handler began, ${howItEnded[String(failed)]}`] as const,
      ),
    ),
    ...record.acts
      .filter(meant)
      .map(
        ({ verb, job_id, flow_id, from_ms, to_ms, status }) =>
          [
            from_ms,
            `a person's ${verb} of ${job_id ? nameOf(record, job_id) : `the flow ${flow_id}`}: ${status}, ${to_ms - from_ms} ms`,
          ] as const,
      ),
  ];
  const first = events.length > 0 ? Math.min(...events.map(([at]) => at)) : 0;
  return events.sort(([a], [b]) => a - b).map(([at, what]) => `${(at - first).toFixed(1).padStart(8)} ms  ${what}`);
}

const howItEnded: { [failed: string]: string } = {
  true: "and failed",
  false: "and succeeded",
  null: "and never ended",
};
