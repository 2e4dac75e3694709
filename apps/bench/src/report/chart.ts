import { Warn, parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { formatFigure, type Titles } from "./markdown.ts";
import type { Row } from "./result.ts";

const ours = "#1a56db";
const others = "#9aa5b1";
const columns = 2;

/** Medians as bars, a panel for each scenario, ours in its own colour. An SVG document. */
export async function renderChart(rows: readonly Row[], titles: Titles): Promise<string> {
  const { spec } = compile(chartOf(rows, titles));
  const view = new View(parse(spec), { renderer: "none", logLevel: Warn });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

function chartOf(rows: readonly Row[], titles: Titles): TopLevelSpec {
  const values = rows.map(({ scenario, variant, unit, median }) => ({
    panel: `${scenario} (${unit}, ${unit === "ms" ? "lower is better" : "higher is better"})`,
    title: titles[variant] ?? variant,
    median,
    label: formatFigure(median, unit),
    ours: variant === "atlasqueue",
  }));
  const y = { field: "title", type: "nominal", sort: Object.values(titles), title: null } as const;
  const x = { field: "median", type: "quantitative", title: null, axis: null } as const;
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    background: "white",
    padding: 12,
    data: { values },
    facet: { field: "panel", type: "nominal", sort: [...new Set(values.map(({ panel }) => panel))], title: null },
    columns,
    spec: {
      width: 320,
      height: { step: 20 },
      encoding: { y, x },
      layer: [
        {
          mark: { type: "bar", cornerRadiusEnd: 2 },
          encoding: { color: { condition: { test: "datum.ours", value: ours }, value: others } },
        },
        { mark: { type: "text", align: "left", dx: 4, fontSize: 10 }, encoding: { text: { field: "label" } } },
      ],
    },
    resolve: { scale: { x: "independent", y: "independent" } },
    config: { view: { stroke: null }, axis: { domain: false, ticks: false }, header: { labelFontWeight: "bold" } },
  };
}
