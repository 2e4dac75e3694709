import { Error as ErrorsOnly, parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { curvesOf, type CurveOf } from "./curves.ts";
import { formatFigure } from "./format.ts";
import { apart, type Titles } from "./markdown.ts";
import type { Row } from "./result.ts";

const ours = "#1a56db";
const others = "#9aa5b1";
const columns = 2;

/** Medians as bars, a panel for each figure that several variants have, ours in its own colour, then curves. An SVG document. */
export async function renderChart(rows: readonly Row[], titles: Titles): Promise<string> {
  const { compared, alone } = apart(rows);
  const curves = curvesOf(rows);
  const bars = compared.length + curves.length > 0 ? compared : alone;
  const panels = Map.groupBy(bars, ({ scenario }) => scenario);
  const chart: TopLevelSpec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    background: "white",
    padding: 12,
    columns,
    concat: [
      ...[...panels].map(([scenario, of]) => panelOf(scenario, of, titles)),
      ...curves.map((one) => curvePanel(one, titles)),
    ],
    config: {
      view: { stroke: null },
      axis: { domain: false, ticks: false, labelLimit: 200 },
      title: { anchor: "start" },
    },
  };
  const view = new View(parse(compile(chart).spec), { renderer: "none", logLevel: ErrorsOnly });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

type Panel = Extract<TopLevelSpec, { concat: unknown }>["concat"][number];

function panelOf(scenario: string, rows: readonly Row[], titles: Titles): Panel {
  const unit = rows[0]?.unit;
  const values = rows.map(({ variant, median, unit: of }) => ({
    title: titles[variant] ?? variant,
    median,
    label: formatFigure(median, of),
    ours: variant === "atlasqueue",
  }));
  return {
    title: `${scenario} (${unit}, ${unit === "per second" || unit === "×" ? "more is better" : "less is better"})`,
    data: { values },
    width: 300,
    height: { step: 20 },
    encoding: {
      y: { field: "title", type: "nominal", sort: null, title: null },
      x: { field: "median", type: "quantitative", axis: null },
    },
    layer: [
      {
        mark: { type: "bar", cornerRadiusEnd: 2 },
        encoding: { color: { condition: { test: "datum.ours", value: ours }, value: others } },
      },
      { mark: { type: "text", align: "left", dx: 4, fontSize: 10 }, encoding: { text: { field: "label" } } },
    ],
  };
}

function curvePanel({ title, by, unit, lines }: CurveOf, titles: Titles): Panel {
  const values = lines.flatMap(({ variant, points }) =>
    points.map(({ x, row }) => ({ title: titles[variant] ?? variant, x, median: row.median })),
  );
  return {
    title: `${title} (${unit})`,
    data: { values },
    width: 300,
    height: 160,
    mark: { type: "line", point: true },
    encoding: {
      // Steps of ten and a hundred times, and sometimes one at 0.
      x: { field: "x", type: "quantitative", title: by, scale: { type: "symlog" } },
      y: { field: "median", type: "quantitative", title: null, scale: { zero: true } },
      ...(lines.length > 1
        ? { color: { field: "title", type: "nominal", title: null } as const }
        : { color: { value: ours } }),
    },
  };
}
