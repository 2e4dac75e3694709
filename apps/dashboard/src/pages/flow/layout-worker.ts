import { Graph, layout } from "@dagrejs/dagre";
import type { Layout, Sketch } from "./layout.ts";

// Beside the page: a graph with many crossing lines takes dagre seconds, in which the page must not stand still.
addEventListener("message", ({ data }: MessageEvent<Sketch>) => {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 56, marginx: 16, marginy: 16 });
  // Dagre puts the last one on top, where there is nothing to choose between them.
  for (const id of data.nodes.toReversed()) graph.setNode(id, { ...data.node_px });
  for (const [from, to] of data.edges.toReversed()) graph.setEdge(from, to, {});
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const answer: Layout = {
    width,
    height,
    nodes: data.nodes.map((id) => ({ id, ...at(graph.node(id)) })),
    edges: graph.edges().map((edge) => ({ from: edge.v, to: edge.w, points: graph.edge(edge).points ?? [] })),
  };
  postMessage(answer);
});

/** Dagre says where the middle of a node is, the page where it begins. */
function at({ x = 0, y = 0, width = 0, height = 0 }: { x?: number; y?: number; width?: number; height?: number }) {
  return { x: x - width / 2, y: y - height / 2 };
}
