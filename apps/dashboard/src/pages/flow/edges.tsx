import { memo } from "react";
import type { Layout, Point } from "./layout.ts";

/** The lines of the graph. Screen readers find what depends on what in the table. */
export const Edges = memo(function Edges({ layout, critical }: { layout: Layout; critical: readonly string[] }) {
  const after = new Map(critical.map((id, at) => [id, critical[at + 1]]));
  const isCritical = ({ from, to }: { from: string; to: string }) => after.get(from) === to;
  // Those of the critical path lie over the others.
  const drawn = layout.edges.toSorted((a, b) => Number(isCritical(a)) - Number(isCritical(b)));
  return (
    <svg className="flow-edges" width={layout.width} height={layout.height} aria-hidden="true">
      <defs>
        <Arrow id="flow-arrow" />
        <Arrow id="flow-arrow-critical" />
      </defs>
      {drawn.map((edge) => (
        <path
          key={`${edge.from} ${edge.to}`}
          className={isCritical(edge) ? "critical" : undefined}
          markerEnd={isCritical(edge) ? "url(#flow-arrow-critical)" : "url(#flow-arrow)"}
          d={curve(edge.points)}
        />
      ))}
    </svg>
  );
});

function Arrow({ id }: { id: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="8"
      markerHeight="8"
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M0 0 8 4 0 8z" />
    </marker>
  );
}

/** A line that goes by the points smoothly: it touches the middle between each two, and bends at them. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const bends = rest.slice(0, -1).map((point, at) => {
    const next = rest[at + 1] ?? point;
    const last = at === rest.length - 2;
    const end = last ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${written(point)} ${written(end)}`;
  });
  const only = rest.length === 1 && rest[0] ? [`L${written(rest[0])}`] : [];
  return `M${written(first)}${[...bends, ...only].join("")}`;
}

const written = ({ x, y }: Point) => `${x.toFixed(1)} ${y.toFixed(1)}`;
