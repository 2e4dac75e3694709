import { memo, useEffect, useMemo, useRef, useState } from "react";
import type { FlowJob } from "@atlasqueue/contract";
import { Button } from "../../components/button.tsx";
import { JobLink } from "../../components/job-link.tsx";
import { Loading } from "../../components/states.tsx";
import { Status } from "../../components/status.tsx";
import { Text } from "../../components/text.tsx";
import { nameOf, type WholeFlow } from "./ask.ts";
import { Edges } from "./edges.tsx";
import { node_px, useLayout, type Layout } from "./layout.ts";

const zooms = [0.25, 0.4, 0.55, 0.75, 1, 1.3] as const;
const [whole_size, smallest_read] = [zooms.indexOf(1), zooms.indexOf(0.55)];

/** The jobs and what waits for what, from left to right. Colours are never alone: each job says its status. */
export function Graph({ flow }: { flow: WholeFlow }) {
  const layout = useLayout(flow.items);
  if (layout === undefined)
    return (
      <section className="card flush">
        <Loading rows={8} />
      </section>
    );
  if (layout === "tangled") return <p className="card soft">Too many edges to draw. Use the table.</p>;
  return <Drawing flow={flow} layout={layout} />;
}

function Drawing({ flow, layout }: { flow: WholeFlow; layout: Layout }) {
  const box = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState<number>(whole_size);
  const fit = () => setZoom(fitting(box.current?.clientWidth ?? 0, layout.width));
  const critical = flow.critical_path ?? [];

  // Once for each layout: what moves under the reader's eyes later is theirs to move.
  useEffect(() => {
    setZoom(fitting(box.current?.clientWidth ?? 0, layout.width));
    const first = box.current?.querySelector(`[data-id="${firstToSee(flow)}"]`);
    requestAnimationFrame(() => {
      const [frame, node] = [box.current?.getBoundingClientRect(), first?.getBoundingClientRect()];
      if (!frame || !node) return;
      box.current?.scrollBy(
        node.left + node.width / 2 - frame.left - frame.width / 2,
        node.top + node.height / 2 - frame.top - frame.height / 2,
      );
    });
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [layout]);

  return (
    <section className="card flush flow-graph">
      <a className="skip" href="#jobs-of-flow">
        Skip the graph
      </a>
      <div className="flow-graph-box" role="region" aria-label="Graph" tabIndex={0} ref={box}>
        <div className="flow-graph-sheet" style={{ width: layout.width, height: layout.height, zoom: zooms[zoom] }}>
          <Edges layout={layout} critical={critical} />
          <Nodes jobs={flow.items} layout={layout} critical={critical} />
        </div>
      </div>
      <footer className="flow-graph-foot">
        <span className="flow-graph-legend">
          <span className="flow-graph-swatch" aria-hidden="true" />
          Critical path: the longest chain of jobs
        </span>
        <span className="actions">
          <Button kind="ghost" onClick={fit}>
            Fit
          </Button>
          <Button kind="ghost" aria-label="Smaller" disabled={zoom === 0} onClick={() => setZoom(zoom - 1)}>
            −
          </Button>
          <Button
            kind="ghost"
            aria-label="Larger"
            disabled={zoom === zooms.length - 1}
            onClick={() => setZoom(zoom + 1)}
          >
            +
          </Button>
        </span>
      </footer>
    </section>
  );
}

type NodesProps = { jobs: readonly FlowJob[]; layout: Layout; critical: readonly string[] };

function Nodes({ jobs, layout, critical }: NodesProps) {
  const places = useMemo(() => new Map(layout.nodes.map((node) => [node.id, node])), [layout]);
  return (
    <ul>
      {jobs.map((job) => {
        const { x = 0, y = 0 } = places.get(job.id) ?? {};
        return (
          <li key={job.id} data-id={job.id} data-status={job.status} style={{ left: x, top: y, ...node_px }}>
            <Node
              id={job.id}
              name={nameOf(job)}
              status={job.status}
              type={job.type}
              critical={critical.includes(job.id)}
            />
          </li>
        );
      })}
    </ul>
  );
}

type NodeProps = Pick<FlowJob, "id" | "status" | "type"> & { name: string; critical: boolean };

/** Drawn again only when something of this job changed. */
const Node = memo(function Node({ id, name, status, type, critical }: NodeProps) {
  return (
    <JobLink id={id} className={critical ? "flow-node critical" : "flow-node"}>
      <Text of={name} />
      <span className="flow-node-about">
        <Status status={status} />
        {type !== name && <Text of={type} />}
      </span>
    </JobLink>
  );
});

/** As large as fits, but never too small to read: the rest is scrolled to. */
function fitting(box_px: number, graph_px: number): number {
  const fits = zooms.findLastIndex((each) => each <= 1 && graph_px * each <= box_px);
  return Math.max(smallest_read, fits);
}

/** What a reader comes for: what died, what runs, or else where it begins. */
function firstToSee({ items, critical_path }: WholeFlow): string | undefined {
  const one = items.find(({ status }) => status === "dead") ?? items.find(({ status }) => status === "running");
  return one?.id ?? critical_path?.[0] ?? items[0]?.id;
}
