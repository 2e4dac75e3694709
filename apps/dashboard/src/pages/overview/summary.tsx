import type { ReactNode } from "react";
import { Link } from "@tanstack/react-router";
import type { Overview, StatsSeries } from "@atlasqueue/contract";
import { useNow } from "../../lib/clock.ts";
import { compact, count, pace, span } from "../../lib/format.ts";
import { ratesNow } from "./figures.ts";

/** The six figures one looks for first. */
export function Summary({ overview, series }: { overview: Overview; series: StatsSeries | undefined }) {
  const now = series && ratesNow(series);
  const { counts, oldest_queued: oldest, workers } = overview;
  const backlog = counts.queued + counts.failed + counts.blocked;
  return (
    <section className="card flush" aria-label="Now">
      <div className="figures">
        <Rate name="In" value={now?.submitted} />
        <Rate name="Out" value={now?.succeeded} />
        <Rate name="Failed" value={now?.failed} />
        <Link to="/ui/jobs" search={{ status: "queued" }} className="figure">
          <Figure name="Backlog" value={compact(backlog)} note={`${count(counts.queued)} ready`} />
        </Link>
        <div className="figure">
          <Figure
            name="Oldest"
            value={oldest ? <Age at={oldest.at} /> : "–"}
            note={oldest ? <span className="clip">waiting in {oldest.queue}</span> : "nothing is waiting"}
          />
        </div>
        <Link to="/ui/workers" className="figure">
          <Figure
            name="Workers"
            value={workers ? count(workers.count) : "?"}
            note={
              workers ? `${count(workers.active)} of ${count(workers.slots)} slots busy` : "not known without Redis"
            }
          />
        </Link>
      </div>
    </section>
  );
}

function Rate({ name, value }: { name: string; value: number | undefined }) {
  const [figure, unit] = value === undefined ? ["–", "/s"] : pace(value);
  return (
    <div className="figure">
      <Figure
        name={name}
        value={
          <>
            {figure}
            <small>{unit}</small>
          </>
        }
        note={name === "Failed" ? "attempts" : "jobs"}
      />
    </div>
  );
}

function Figure({ name, value, note }: { name: string; value: ReactNode; note: ReactNode }) {
  return (
    <>
      <span className="figure-name">{name}</span>
      <span className="figure-value">{value}</span>
      <span className="figure-note">{note}</span>
    </>
  );
}

function Age({ at }: { at: string }) {
  return <>{span(Math.max(0, useNow() - Date.parse(at)))}</>;
}
