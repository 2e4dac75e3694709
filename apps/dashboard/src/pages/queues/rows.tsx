import { memo, useCallback, useMemo, useState, type ReactNode } from "react";
import { Link } from "@tanstack/react-router";
import { jobStatuses, type Queue } from "@atlasqueue/contract";
import { useMay } from "../../api/session.ts";
import { useThroughput } from "../../api/throughput.ts";
import { Button } from "../../components/button.tsx";
import { Rows } from "../../components/rows.tsx";
import { Line } from "../../components/spark.tsx";
import { For } from "../../components/time.tsx";
import { compact, percent, perMinute, plural } from "../../lib/format.ts";
import type { Went } from "../../lib/went.ts";
import type { Order } from "./order.ts";
import { usePausing } from "./pausing.ts";

const columns = [
  { name: "Queue", width: "minmax(9rem, 2fr)", by: "name" },
  { name: "Queued", width: "3.75rem", num: true },
  { name: "Running", width: "3.75rem", num: true },
  { name: <abbr title="Failed, retrying">Retrying</abbr>, width: "3.75rem", num: true },
  { name: "Later", width: "3.75rem", num: true },
  { name: "Dead", width: "3.75rem", num: true },
  { name: "Oldest waits", width: "5.75rem", num: true, by: "oldest" },
  { name: <abbr title="Jobs submitted, over the last 15 minutes">In /min</abbr>, width: "3.75rem", num: true },
  { name: <abbr title="Jobs that succeeded, over the last 15 minutes">Out /min</abbr>, width: "3.75rem", num: true },
  { name: <abbr title="The part of the last hour's attempts that failed">Failing</abbr>, width: "3.5rem", num: true },
  { name: "Last hour", width: "5rem" },
  { name: <span className="unseen">What to do</span>, width: "6rem" },
] satisfies { name: ReactNode; width: string; num?: boolean; by?: Order }[];

/** From here on it is shown as bad. */
const failing_bad = 0.1;

/** Charts are requested for this many rows at once, not for each row that scrolls into view. */
const block_rows = 25;

type Props = {
  of: readonly Queue[];
  /** Those whose ready jobs no worker takes. */
  unserved: ReadonlySet<string>;
  order: Order;
  onOrder: (order: Order) => void;
};

export function QueueRows({ of, unserved, order, onOrder }: Props) {
  const [block, setBlock] = useState<readonly [number, number]>([0, block_rows]);
  const show = useCallback((first: number, last: number) => {
    const from = Math.floor(first / block_rows) * block_rows;
    const to = Math.ceil((last + 1) / block_rows) * block_rows;
    setBlock((now) => (now[0] === from && now[1] === to ? now : [from, to]));
  }, []);
  const went = useThroughput(of.slice(...block).map(({ queue }) => queue));
  const { pause, resume } = usePausing();
  const may = useMay("admin");
  const headed = useMemo(
    () =>
      columns.map(({ by, name, ...column }: (typeof columns)[number] & { by?: Order }) => {
        if (!by) return { ...column, name };
        const sort = (
          <button type="button" className="sort" onClick={() => onOrder(by)}>
            {name}
          </button>
        );
        const direction = by === "name" ? ("ascending" as const) : ("descending" as const);
        return { ...column, name: sort, sorted: by === order ? direction : undefined };
      }),
    [order, onOrder],
  );
  return (
    <Rows
      label="Queues"
      columns={headed}
      items={of}
      idOf={({ queue }) => queue}
      table_rem={60}
      first={of.length > 1 && <Total of={of} went={went} />}
      onShown={show}
    >
      {(queue) => (
        <Cells
          queue={queue}
          unserved={unserved.has(queue.queue)}
          went={went.get(queue.queue)}
          onPause={may ? pause.mutate : undefined}
          onResume={resume.mutate}
        />
      )}
    </Rows>
  );
}

type CellsProps = {
  queue: Queue;
  unserved: boolean;
  /** Unknown while it is asked. */
  went: Went | undefined;
  /** Undefined for who may not. */
  onPause: ((queue: string) => void) | undefined;
  onResume: (queue: string) => void;
};

/** Drawn again only when something of this row changed. */
const Cells = memo(function Cells({ queue, unserved, went, onPause, onResume }: CellsProps) {
  const { counts } = queue;
  return (
    <>
      <span role="cell" className="with-tag" data-card="title">
        <Link to="/ui/queues/$queue" params={{ queue: queue.queue }} className="clip">
          {queue.queue}
        </Link>
        {queue.paused && (
          <span className="tag" data-tone="warning">
            Paused
          </span>
        )}
        {unserved && !queue.paused && (
          <span
            className="tag"
            data-tone="bad"
            title="Jobs are ready, and no worker takes them. Workers over HTTP are not seen here."
          >
            No worker
          </span>
        )}
      </span>
      <Counts of={counts} />
      <span role="cell" className={queue.oldest_queued_at === null ? "num quiet" : "num"} data-name="oldest">
        <For since={queue.oldest_queued_at} />
      </span>
      <Rate of={went?.in_per_second} name="in /min" />
      <Rate of={went?.out_per_second} name="out /min" />
      <Failing of={went?.failing ?? null} />
      <span role="cell" data-card="none">
        {went && (
          <Line values={went.succeeded} label={`${plural(sum(went.succeeded), "job")} succeeded in the last hour`} />
        )}
      </span>
      <span role="cell" data-card="end">
        {onPause && <PauseButton queue={queue} onPause={onPause} onResume={onResume} />}
      </span>
    </>
  );
});

/** What all the listed queues have together. */
function Total({ of, went }: { of: readonly Queue[]; went: ReadonlyMap<string, Went> }) {
  const counts = Object.fromEntries(
    jobStatuses.map((status) => [status, sum(of.map((queue) => queue.counts[status]))]),
  ) as Queue["counts"];
  // Those that were scrolled past have not been asked for.
  const whole = of.every(({ queue }) => went.has(queue));
  const all = of.flatMap(({ queue }) => went.get(queue) ?? []);
  return (
    <>
      <span role="cell" data-card="title">
        {plural(of.length, "queue")}
      </span>
      <Counts of={counts} />
      <span role="cell" data-card="none" />
      <Rate of={whole ? sum(all.map((one) => one.in_per_second)) : undefined} name="in /min" />
      <Rate of={whole ? sum(all.map((one) => one.out_per_second)) : undefined} name="out /min" />
      <span role="cell" data-card="none" />
      <span role="cell" data-card="none" />
      <span role="cell" data-card="none" />
    </>
  );
}

function Counts({ of }: { of: Queue["counts"] }) {
  return (
    <>
      <Count of={of.queued} name="queued" />
      <Count of={of.running} name="running" />
      <Count of={of.failed} name="retrying" />
      <Count of={of.scheduled + of.blocked} name="later" />
      <Count of={of.dead} name="dead" tone="bad" />
    </>
  );
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function Count({ of, name, tone }: { of: number; name: string; tone?: "bad" }) {
  return (
    <span role="cell" className={of === 0 ? "num quiet" : "num"} data-name={name} data-tone={of > 0 ? tone : undefined}>
      {compact(of)}
    </span>
  );
}

function Rate({ of = 0, name }: { of: number | undefined; name: string }) {
  return (
    <span role="cell" className={of === 0 ? "num quiet" : "num"} data-name={name}>
      {of === 0 ? "–" : perMinute(of)}
    </span>
  );
}

function Failing({ of }: { of: number | null }) {
  return (
    <span
      role="cell"
      className={of === null || of === 0 ? "num quiet" : "num"}
      data-name="failing"
      data-tone={of !== null && of >= failing_bad ? "bad" : undefined}
    >
      {of === null ? "–" : percent(of)}
    </span>
  );
}

function PauseButton({
  queue: { queue, paused },
  onPause,
  onResume,
}: Pick<CellsProps, "queue" | "onResume"> & { onPause: (queue: string) => void }) {
  return (
    <div className="row-actions">
      {paused ? (
        <Button kind="ghost" icon="play" aria-label="Resume" onClick={() => onResume(queue)}>
          Resume
        </Button>
      ) : (
        <Button kind="ghost" icon="pause" aria-label="Pause" onClick={() => onPause(queue)}>
          Pause
        </Button>
      )}
    </div>
  );
}
