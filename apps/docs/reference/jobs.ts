import { fieldText, job, jobStatuses, submitFields, submitSingle, type JobStatus } from "@atlasqueue/contract";
import { code, table } from "./table.ts";

const meanings: Record<JobStatus, string> = {
  scheduled: "waits for its time or a signal",
  blocked: "waits for its group, parents or commit",
  queued: "is ready and waits for a worker",
  running: "a worker holds its lease",
  failed: "an attempt failed; it will be retried",
  succeeded: "is done; `result` has what it returned",
  dead: "failed for good: a dead letter",
  cancelled: "was ended before it succeeded",
};

export function statusTable(isFinal: (status: JobStatus) => boolean): string {
  const rows = jobStatuses.map((status) => [code(status), meanings[status], isFinal(status) ? "yes" : "no"]);
  return table(["status", "meaning", "final"], rows);
}

const submitted = { ...submitFields.shape, ...submitSingle.shape };

/** The fields of `POST /v1/jobs`, as the OpenAPI document describes them. */
export const submittedFields = (): string => listOf(Object.entries(submitted));

/** What a stored job has besides them. */
export const storedFields = (): string =>
  listOf(Object.entries(job.shape).filter(([name]) => !Object.hasOwn(submitted, name)));

function listOf(fields: [string, Parameters<typeof fieldText>[0]][]): string {
  return fields.map(([name, field]) => `- ${code(name)}: ${fieldText(field) ?? ""}`).join("\n");
}
