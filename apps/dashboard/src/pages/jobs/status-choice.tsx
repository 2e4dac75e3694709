import { NotFoundError } from "@atlasqueue/client";
import { jobStatuses, type JobStatus, type Queue } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { useLive } from "../../api/queries.ts";
import { Choice } from "../../components/button.tsx";
import { statusNames } from "../../components/status.tsx";
import { compact } from "../../lib/format.ts";
import type { JobsFilter } from "./filter.ts";

type Props = { filter: JobsFilter; onChange: (status: JobStatus | undefined) => void };

/** A status to list, with how many jobs are in it. A list that anything but a queue narrows has no counts. */
export function StatusChoice({ filter: { status, queue, ...narrower }, onChange }: Props) {
  const enabled = Object.keys(narrower).length === 0;
  const counts = useLive({ key: ["counts", queue], ask: (signal) => countsOf(queue, signal), enabled });
  const known = enabled ? counts.data : undefined;
  const nameOf = (each: JobStatus) => `${statusNames[each]}${known ? ` ${compact(known[each])}` : ""}`;
  const choices = jobStatuses.map((each) => [each, nameOf(each)] as const);
  return (
    <div className="scroll-x">
      <Choice<JobStatus | "all">
        label="Status"
        of={[["all", "All"], ...choices]}
        value={status ?? "all"}
        onChange={(chosen) => onChange(chosen === "all" ? undefined : chosen)}
      />
    </div>
  );
}

/** Null for a queue that there is not. */
async function countsOf(queue: string | undefined, signal: AbortSignal): Promise<Queue["counts"] | null> {
  if (queue === undefined) return (await client.stats.overview({ signal })).counts;
  try {
    return (await client.queue(queue, { signal })).counts;
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}
