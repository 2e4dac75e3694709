import { useMemo, useState } from "react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Job } from "@atlasqueue/contract";
import { useMay } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { lazyPart } from "../../components/lazy-part.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { changed } from "./filter.ts";
import { FilterBar } from "./filter-bar.tsx";
import { JobRows } from "./rows.tsx";
import { useJobs } from "./list.ts";
import { More } from "./more.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { useSelection } from "./selection.ts";
import { StatusChoice } from "./status-choice.tsx";

const NewJob = lazyPart(() => import("./new-job.tsx"));

const none: readonly Job[] = [];

export function Jobs() {
  const filter = useSearch({ from: "/ui/jobs" });
  const navigate = useNavigate();
  const list = useJobs(filter);
  const items = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  // Until the answer to a new filter is there, the rows are those of the one before, which no act of this one is meant for.
  const selection = useSelection(list.isPlaceholderData ? none : items, JSON.stringify(filter));
  const [making, setMaking] = useState(false);
  const may = useMay("submit");
  const filtered = Object.keys(filter).length > 0;
  return (
    <Page
      title="Jobs"
      actions={
        may && (
          <Button kind="main" icon="plus" onClick={() => setMaking(true)}>
            New job
          </Button>
        )
      }
    >
      <StatusChoice
        filter={filter}
        onChange={(status) => void navigate({ to: "/ui/jobs", search: changed(filter, { status }) })}
      />
      <FilterBar filter={filter} onChange={(next) => void navigate({ to: "/ui/jobs", search: next })} />
      <Card flush>
        <SelectionBar filter={filter} selection={selection} found={items.length > 0 && !list.isPlaceholderData} />
        <Answered to={list} rows={12}>
          {() =>
            items.length === 0 && !list.hasNextPage ? (
              <Empty icon="jobs" title={filtered ? "No job matches" : "No jobs yet"}>
                {filtered ? (
                  <Button onClick={() => void navigate({ to: "/ui/jobs", search: {} })}>Clear the filter</Button>
                ) : (
                  "Submit one with the button above, or from your program."
                )}
              </Empty>
            ) : (
              <JobRows items={items} selection={selection} />
            )
          }
        </Answered>
        <More list={list} shown={items.length} searching={filter.search !== undefined} />
      </Card>
      {making && <NewJob onClose={() => setMaking(false)} {...(filter.queue ? { queue: filter.queue } : {})} />}
    </Page>
  );
}
