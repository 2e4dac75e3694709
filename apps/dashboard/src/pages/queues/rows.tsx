import { memo, useCallback, useMemo, useState, type ReactNode } from "react";
import { Link } from "@tanstack/react-router";
import type { Queue } from "@atlasqueue/contract";
import { useMay } from "../../api/session.ts";
import { useThroughput } from "../../api/throughput.ts";
import { Button } from "../../components/button.tsx";
import { Rows } from "../../components/rows.tsx";
import { Line } from "../../components/spark.tsx";
import { For } from "../../components/time.tsx";
import { compact, plural } from "../../lib/format.ts";
import type { Order } from "./order.ts";
import { usePausing } from "./pausing.ts";

const columns = [
  { name: "Queue", width: "minmax(10rem, 2fr)", by: "name" },
  { name: "Queued", width: "5rem", num: true },
  { name: "Running", width: "5rem", num: true },
  { name: "Failed, retrying", width: "8rem", num: true },
  { name: "Later", width: "5rem", num: true },
  { name: "Dead", width: "5rem", num: true },
  { name: "Succeeded", width: "6rem", num: true },
  { name: "Oldest waits", width: "7rem", num: true, by: "oldest" },
  { name: "Last hour", width: "7rem" },
  { name: <span className="unseen">What to do</span>, width: "6.5rem" },
] satisfies { name: ReactNode; width: string; num?: boolean; by?: Order }[];

/** Charts are asked for by so many rows, not anew with every row that comes into sight. */
const block_rows = 25;

type Props = { of: readonly Queue[]; order: Order; onOrder: (order: Order) => void };

export function QueueRows({ of, order, onOrder }: Props) {
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
    <Rows label="Queues" columns={headed} items={of} idOf={({ queue }) => queue} min_width="64rem" onShown={show}>
      {(queue) => (
        <Cells
          queue={queue}
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
  /** Jobs that succeeded, in each step of the last hour; unknown while it is asked. */
  went: readonly number[] | undefined;
  /** Undefined for who may not. */
  onPause: ((queue: string) => void) | undefined;
  onResume: (queue: string) => void;
};

/** Drawn again only when something of this row changed. */
const Cells = memo(function Cells({ queue, went, onPause, onResume }: CellsProps) {
  const { counts } = queue;
  return (
    <>
      <span role="cell" className="with-tag">
        <Link to="/ui/queues/$queue" params={{ queue: queue.queue }} className="clip">
          {queue.queue}
        </Link>
        {queue.paused && (
          <span className="tag" data-tone="warning">
            Paused
          </span>
        )}
      </span>
      <Count of={counts.queued} />
      <Count of={counts.running} />
      <Count of={counts.failed} />
      <Count of={counts.scheduled + counts.blocked} />
      <Count of={counts.dead} tone="bad" />
      <Count of={counts.succeeded} />
      <span role="cell" className="num">
        <For since={queue.oldest_queued_at} />
      </span>
      <span role="cell">
        {went && <Line values={went} label={`${plural(sum(went), "job")} succeeded in the last hour`} />}
      </span>
      <span role="cell">{onPause && <PauseButton queue={queue} onPause={onPause} onResume={onResume} />}</span>
    </>
  );
});

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function Count({ of, tone }: { of: number; tone?: "bad" }) {
  return (
    <span role="cell" className={of === 0 ? "num quiet" : "num"} data-tone={of > 0 ? tone : undefined}>
      {compact(of)}
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
