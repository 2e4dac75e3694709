import { useEffect, useMemo, useState } from "react";
import type { FlowJob } from "@atlasqueue/contract";

/** What is to be laid out: jobs by their ids, and from which to which lines go. */
export type Sketch = {
  nodes: string[];
  edges: (readonly [from: string, to: string])[];
  node_px: { width: number; height: number };
};
export type Point = { x: number; y: number };
export type Layout = {
  width: number;
  height: number;
  nodes: (Point & { id: string })[];
  edges: { from: string; to: string; points: Point[] }[];
};

export const node_px = { width: 208, height: 52 };
/** What takes longer is too tangled to be read when it is drawn. */
const laid_out_ms_max = 8_000;

/**
 * Where jobs and lines go, worked out once for the same jobs, whatever becomes of their statuses: undefined until it is
 * known, "tangled" when it cannot be.
 */
export function useLayout(jobs: readonly FlowJob[]): Layout | "tangled" | undefined {
  const text = useMemo(() => JSON.stringify(sketchOf(jobs)), [jobs]);
  const [found, setFound] = useState<{ of: string; layout: Layout | "tangled" }>();
  useEffect(() => {
    const worker = new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
    const end = (layout: Layout | "tangled") => {
      setFound({ of: text, layout });
      stop();
    };
    const timer = setTimeout(() => end("tangled"), laid_out_ms_max);
    const stop = () => {
      clearTimeout(timer);
      worker.terminate();
    };
    worker.addEventListener("message", ({ data }: MessageEvent<Layout>) => end(data));
    worker.addEventListener("error", () => end("tangled"));
    worker.postMessage(JSON.parse(text));
    return stop;
  }, [text]);
  return found?.of === text ? found.layout : undefined;
}

/** Parents from before the flow are not among its jobs, and are not drawn. */
function sketchOf(jobs: readonly FlowJob[]): Sketch {
  const nodes = jobs.map(({ id }) => id);
  const known = new Set(nodes);
  const edges = jobs.flatMap(({ id, depends_on }) =>
    depends_on.filter((parent) => known.has(parent)).map((parent) => [parent, id] as const),
  );
  return { nodes, edges, node_px };
}
