import { settledUnder } from "./leasing.ts";
import { ended, held, type Model, type Taken } from "./state.ts";
import { advanceEnded } from "./upkeep.ts";
import { submitFlow, type AskedOfFlow } from "./submitting.ts";

/** running → succeeded, with the jobs that it adds to its flow; what waits for it waits for them too, if it says so. */
export function spawn(
  model: Model,
  lease: Taken,
  children: readonly AskedOfFlow[],
  dependants_wait: boolean,
): { kind: string; has_children?: boolean; made: number[] } {
  const job = held(model, lease);
  if (!job) {
    const before = model.jobs.get(lease.job);
    if (settledUnder(model, lease) !== "succeeded" || !before) return { kind: "lease_lost", made: [] };
    return { kind: "applied", has_children: before.has_children, made: [] };
  }
  const waiting = dependants_wait ? model.edges.filter(({ parent }) => parent === job.n) : [];
  job.flow ??= model.next.flow++;
  const made = submitFlow(model, children, job.flow);
  for (const n of made) {
    const child = model.jobs.get(n);
    if (child && waiting.length > 0) child.has_children = true;
    for (const edge of waiting) model.edges.push({ ...edge, parent: n, failed: false });
  }
  Object.assign(job, { status: "succeeded", finished_at: model.now, locked_until: null, active_group_key: false });
  ended(model, job);
  advanceEnded(model);
  return { kind: "applied", has_children: job.has_children, made };
}
