import { memo, useMemo } from "react";
import type { FlowJob } from "@atlasqueue/contract";
import { JobLink } from "../../components/job-link.tsx";
import { Rows } from "../../components/rows.tsx";
import { Status } from "../../components/status.tsx";
import { Text } from "../../components/text.tsx";
import { span } from "../../lib/format.ts";
import { nameOf, type WholeFlow } from "./ask.ts";

const columns = [
  { name: "Job", width: "minmax(10rem, 1.4fr)" },
  { name: "Status", width: "6.75rem" },
  { name: "Type", width: "minmax(7rem, 1fr)" },
  { name: "Depends on", width: "minmax(8rem, 1.2fr)" },
  { name: "Error", width: "minmax(8rem, 1.6fr)" },
  { name: "Attempts", width: "4.5rem", num: true },
  { name: "Ran for", width: "5.5rem", num: true },
];
/** What fits into a cell; its words are all there in the title. */
const parents_named_max = 20;

/** The jobs of a flow, one a line, however many. */
export function FlowJobs({ flow: { items, critical_path } }: { flow: WholeFlow }) {
  const names = useMemo(() => new Map(items.map((job) => [job.id, nameOf(job)])), [items]);
  const critical = useMemo(() => new Set(critical_path), [critical_path]);
  return (
    <Rows label="Jobs of the flow" columns={columns} items={items} idOf={({ id }) => id} table_rem={52}>
      {(job) => <Cells job={job} parents={parentsOf(job, names)} critical={critical.has(job.id)} />}
    </Rows>
  );
}

const Cells = memo(function Cells({ job, parents, critical }: { job: FlowJob; parents: string; critical: boolean }) {
  return (
    <>
      <span role="cell" className="with-tag" data-card="title">
        <JobLink id={job.id}>
          <Text of={nameOf(job)} />
        </JobLink>
        {critical && <span className="tag">critical</span>}
      </span>
      <span role="cell" data-card="end">
        <Status status={job.status} />
      </span>
      <span role="cell" className="soft">
        <Text of={job.type} />
      </span>
      <span role="cell" className="soft" data-card="none">
        <Text of={parents} />
      </span>
      <span role="cell" className="quiet" data-card="grow">
        <Text of={job.last_error ?? ""} mono />
      </span>
      <span role="cell" className="num soft" data-name="attempts">
        {job.attempts} / {job.max_attempts}
      </span>
      <span role="cell" className="num soft">
        {ranFor(job)}
      </span>
    </>
  );
});

function parentsOf({ depends_on }: FlowJob, names: ReadonlyMap<string, string>): string {
  const named = depends_on.slice(0, parents_named_max).map((id) => names.get(id) ?? id);
  const more = depends_on.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function ranFor({ started_at, finished_at }: FlowJob): string {
  if (started_at === null || finished_at === null) return "–";
  return span(Date.parse(finished_at) - Date.parse(started_at));
}
