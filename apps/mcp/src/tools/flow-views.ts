import { flowStates, jobStatuses, type Flow, type FlowJob } from "@atlasqueue/contract";
import { z } from "zod";
import { excerpt, type Cuts } from "../untrusted/excerpt.ts";
import { shownName } from "./job-views.ts";

const time = z.iso.datetime();
const status = z.enum(jobStatuses);

/** A flow in a list. */
export const flowRow = z.object({
  flow_id: z.string(),
  state: z.enum(flowStates),
  jobs: z.int(),
  counts: z.partialRecord(status, z.int()).describe("how many jobs have which status"),
  created_at: time,
  finished_at: time.nullable(),
});

/** A job as its flow shows it. */
export const flowMember = z.object({
  job_id: z.string(),
  ref: z.string().nullable(),
  type: z.string(),
  queue_name: z.string(),
  status,
  depends_on: z.array(z.string()).describe("ids of the jobs it waits for"),
  on_parent_failure: z.enum(["cancel", "wait", "run"]),
  attempts: z.int(),
  error_text: z.string().nullable(),
  started_at: time.nullable(),
  finished_at: time.nullable(),
});

const error_chars_max = 200;
const parents_max = 50;

export function showFlow({ id, state, jobs, counts, created_at, finished_at }: Flow): z.output<typeof flowRow> {
  const some = Object.fromEntries(
    jobStatuses.filter((one) => (counts[one] ?? 0) > 0).map((one) => [one, counts[one] ?? 0]),
  );
  return { flow_id: id, state, jobs, counts: some, created_at, finished_at };
}

export function showMember(cuts: Cuts, job: FlowJob): z.output<typeof flowMember> {
  const { id, ref, type, queue, depends_on, last_error, on_parent_failure, attempts, started_at, finished_at } = job;
  if (depends_on.length > parents_max)
    cuts.push(`depends_on of ${id}: the first ${parents_max} of ${depends_on.length}; explain_job says who is left`);
  const error = { name: `error_text of ${id}`, chars_max: error_chars_max, more: "get_job_details shows it" };
  return {
    job_id: id,
    ref: ref === null ? null : shownName(cuts, "ref", ref),
    type: shownName(cuts, "type", type),
    queue_name: shownName(cuts, "queue_name", queue),
    status: job.status,
    depends_on: depends_on.slice(0, parents_max),
    on_parent_failure,
    attempts,
    error_text: last_error === null ? null : excerpt(cuts, last_error, error),
    started_at,
    finished_at,
  };
}
