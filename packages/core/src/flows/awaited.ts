import type { JobStatus } from "@atlasqueue/contract";

/** A parent that a blocked job waits for. */
export type AwaitedParent = { id: string; status: JobStatus; on_parent_failure: "cancel" | "wait" | "run" };

/** Of those a job waits for, as many are named. */
const awaited_shown_max = 10;
/** And as many are counted. */
const awaited_counted_max = 1_000;

/** Columns of a statement over `job`, a row of jobs: how many parents it waits for, and the first of them. */
export const awaitedParents = `
         (SELECT count(*)::int FROM (
            SELECT FROM atlasqueue.flow_edges WHERE child = job.id LIMIT ${awaited_counted_max}) AS open) AS awaited,
         (SELECT json_agg(json_build_object('id', id, 'status', status, 'on_parent_failure', on_parent_failure) ORDER BY id) FROM (
            SELECT id, status, on_parent_failure FROM atlasqueue.flow_edges JOIN atlasqueue.jobs ON jobs.id = parent
            WHERE child = job.id ORDER BY parent LIMIT ${awaited_shown_max}) AS shown) AS parents`;

/**
 * For whom a job waits, as a sentence.
 *
 * @example
 * describeAwaited(1, [{ id: "0192…", status: "running", on_parent_failure: "cancel" }]);
 * // "It waits for the job 0192… (running)."
 */
export function describeAwaited(count: number, parents: readonly AwaitedParent[]): string {
  if (parents.length === 0) return "Its dependencies have finished. It will be queued shortly.";
  const shown = parents.map(
    ({ id, status, on_parent_failure }) => `${id} (${status}${needsReplay(status, on_parent_failure)})`,
  );
  if (count === 1) return `It waits for the job ${shown[0]}.`;
  const total = count === awaited_counted_max ? `${count} or more` : String(count);
  const more = count > shown.length ? " and others" : "";
  return `It waits for ${total} jobs: ${shown.join(", ")}${more}.`;
}

const needsReplay = (status: JobStatus, policy: AwaitedParent["on_parent_failure"]): string =>
  policy === "wait" && (status === "dead" || status === "cancelled") ? ", until it is replayed" : "";
