import { useState } from "react";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { Queue } from "@atlasqueue/contract";
import { useQueue } from "../../api/queues.ts";
import { useMay } from "../../api/session.ts";
import { Button, Choice } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { Charts } from "../overview/charts.tsx";
import { useSeries } from "../overview/figures.ts";
import { windows } from "../overview/window.ts";
import { usePausing } from "../queues/pausing.ts";
import { BulkDialog } from "../jobs/bulk-dialog.tsx";
import { QueueCounts } from "./counts.tsx";
import { Defaults } from "./defaults.tsx";
import { Groups } from "./groups.tsx";
import { Limits } from "./limits.tsx";
import { QueueWorkers } from "./workers.tsx";

/** One queue: what is in it, how it went, what holds it up, and its controls. */
export function QueuePage() {
  const { queue: name } = useParams({ from: "/ui/queues/$queue" });
  const { window = "1h" } = useSearch({ from: "/ui/queues/$queue" });
  const navigate = useNavigate();
  const asked = useQueue(name);
  const series = useSeries(window, name);
  const queue = asked.data;
  if (queue === null)
    return (
      <Page title={name}>
        <Empty icon="queues" title="There is no such queue">
          It has no jobs now, and it has no settings. <Link to="/ui/queues">All queues</Link>
        </Empty>
      </Page>
    );
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      lead={
        queue?.paused && (
          <span className="tag" data-tone="warning">
            Paused
          </span>
        )
      }
      actions={queue && <Actions queue={queue} />}
    >
      <Answered to={{ data: queue, error: asked.error }} rows={3}>
        {(found) => (
          <>
            <QueueCounts queue={found} />
            <div className="grid-2">
              <Limits queue={found} />
              <QueueWorkers queue={name} waiting={found.counts.queued} />
            </div>
            <Defaults queue={found} />
            <Groups queue={name} blocked={found.counts.blocked} />
          </>
        )}
      </Answered>
      <section className="stack" aria-label="History">
        <div className="section-head">
          <h2>History</h2>
          <Choice
            label="How far back"
            of={windows}
            value={window}
            onChange={(chosen) =>
              void navigate({
                to: "/ui/queues/$queue",
                params: { queue: name },
                search: chosen === "1h" ? {} : { window: chosen },
              })
            }
          />
        </div>
        <Answered to={series} rows={8}>
          {(data) => <Charts series={data} />}
        </Answered>
      </section>
    </Page>
  );
}

function Actions({ queue }: { queue: Queue }) {
  const { pause, resume } = usePausing();
  const [asked, setAsked] = useState<"cancel" | "purge">();
  const may = useMay("admin");
  return (
    <>
      <Link to="/ui/jobs" search={{ queue: queue.queue }} className="button">
        Its jobs
      </Link>
      {may && (
        <Button icon="close" onClick={() => setAsked("cancel")}>
          Cancel its jobs
        </Button>
      )}
      {may && (
        <Button icon="trash" data-tone="bad" onClick={() => setAsked("purge")}>
          Purge
        </Button>
      )}
      {asked && (
        <BulkDialog action={asked} which={{ filter: { queue: queue.queue } }} onClose={() => setAsked(undefined)} />
      )}
      {may &&
        (queue.paused ? (
          <Button kind="main" icon="play" onClick={() => resume.mutate(queue.queue)}>
            Resume
          </Button>
        ) : (
          <Button icon="pause" onClick={() => pause.mutate(queue.queue)}>
            Pause
          </Button>
        ))}
    </>
  );
}
