import { memo } from "react";
import type { Job } from "@atlasqueue/contract";
import { JobLink } from "../../components/job-link.tsx";
import { Rows } from "../../components/rows.tsx";
import { Status } from "../../components/status.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { span } from "../../lib/format.ts";
import type { Selection } from "./selection.ts";

/** Newest first, one job a line. */
export function JobRows({ items, selection }: { items: readonly Job[]; selection: Selection }) {
  const { ids, current } = selection;
  const every = items.length > 0 && items.every(({ id }) => ids.has(id));
  const columns = [
    {
      name: (
        <input
          type="checkbox"
          aria-label="Select all that are shown"
          checked={every}
          onChange={({ target }) => selection.all(target.checked)}
        />
      ),
      width: "1.25rem",
    },
    { name: "Status", width: "6.75rem" },
    { name: "Type", width: "minmax(9rem, 1.2fr)" },
    { name: "Queue", width: "minmax(6rem, 0.8fr)" },
    { name: "Error or payload", width: "minmax(10rem, 4fr)" },
    { name: "Attempts", width: "4.5rem", num: true },
    { name: "Ran for", width: "5.5rem", num: true },
    { name: "Created", width: "6rem" },
  ];
  return (
    <Rows
      label="Jobs"
      columns={columns}
      items={items}
      idOf={({ id }) => id}
      table_rem={48}
      current={current}
      isSelected={({ id }) => ids.has(id)}
    >
      {(job) => <Cells job={job} chosen={ids.has(job.id)} onToggle={selection.toggle} />}
    </Rows>
  );
}

type CellsProps = { job: Job; chosen: boolean; onToggle: Selection["toggle"] };

/** Drawn again only when something of this row changed. */
const Cells = memo(function Cells({ job, chosen, onToggle }: CellsProps) {
  return (
    <>
      <span role="cell" data-card="first">
        <input
          type="checkbox"
          aria-label={`Select ${job.id}`}
          checked={chosen}
          onChange={() => {}}
          onClick={({ shiftKey }) => onToggle(job.id, shiftKey)}
        />
      </span>
      <span role="cell" data-card="end">
        <Status status={job.status} />
      </span>
      <span role="cell" data-card="title">
        <JobLink id={job.id}>
          <Text of={job.type} />
        </JobLink>
      </span>
      <span role="cell" className="soft">
        <Text of={job.queue} />
      </span>
      <span role="cell" className="quiet" data-card="grow">
        <Text of={saying(job)} mono />
      </span>
      <span role="cell" className="num soft" data-name="attempts">
        {job.attempts} / {job.max_attempts}
      </span>
      <span role="cell" className="num soft" data-card="none">
        {ranFor(job)}
      </span>
      <span role="cell" className="soft">
        <Time at={job.created_at} />
      </span>
    </>
  );
});

/** What tells it from its neighbours: its error, or its payload. */
function saying({ last_error, payload }: Job): string {
  return last_error ?? JSON.stringify(payload).slice(0, 400);
}

function ranFor({ started_at, finished_at }: Job): string {
  if (started_at === null || finished_at === null) return "–";
  return span(Date.parse(finished_at) - Date.parse(started_at));
}
