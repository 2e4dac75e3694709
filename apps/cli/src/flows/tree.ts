import type { FlowJob } from "@atlasqueue/contract";
import treeify from "object-treeify";
import { plain } from "../output/plain.ts";

type Tree = { [label: string]: Tree | null };

/**
 * Jobs under those they wait for, a line each. One that waits for several is shown once, under the first of them, and
 * names the others.
 *
 * @example
 * output.write(`${treeOf(flow.items)}\n`);
 */
export function treeOf(jobs: readonly FlowJob[]): string {
  const names = new Map(jobs.map((job) => [job.id, nameOf(job)]));
  const children = Map.groupBy(jobs, ({ depends_on }) => depends_on.find((id) => names.has(id)));
  const branches = new Map<string, Tree>();
  const root: Tree = {};
  for (const job of jobs) branches.set(job.id, {});
  for (const [parent, those] of children)
    for (const job of those) {
      const branch = parent === undefined ? root : branches.get(parent);
      const below = branches.get(job.id) ?? {};
      if (branch) branch[labelOf(job, parent, names)] = children.has(job.id) ? below : null;
    }
  return treeify(root);
}

/** By its end: ids that were made together begin alike. */
const nameOf = ({ ref, id }: FlowJob) => ref ?? id.slice(-6);

function labelOf(job: FlowJob, parent: string | undefined, names: ReadonlyMap<string, string>): string {
  const others = job.depends_on.filter((id) => id !== parent).map((id) => names.get(id) ?? id.slice(-6));
  const more = others.length > 3 ? `${others.slice(0, 3).join(", ")} and ${others.length - 3} more` : others.join(", ");
  const waits = others.length > 0 ? `, after ${more}${parent === undefined ? "" : " too"}` : "";
  const took = job.started_at && job.finished_at ? ` in ${seconds(job.started_at, job.finished_at)} s` : "";
  const error = job.last_error && job.status !== "succeeded" ? `: ${job.last_error.slice(0, 80)}` : "";
  return plain(`${nameOf(job)} (${job.type}) ${job.status}${took}${waits}${error}  ${job.id}`);
}

const seconds = (from: string, to: string) => ((Date.parse(to) - Date.parse(from)) / 1_000).toFixed(1);
