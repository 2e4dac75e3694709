import { cpuOf } from "../costs/costs.ts";
import { formatFigure, formatNumber, table } from "./format.ts";
import type { Row } from "./result.ts";

type Line = { variant: string; points: { x: number; row: Row }[] };
export type CurveOf = { title: string; by: string; unit: Row["unit"]; xs: number[]; lines: Line[] };

/** The rows that are points, put together: a line for each variant, its points in order. */
export function curvesOf(rows: readonly Row[]): CurveOf[] {
  const points = rows.flatMap((row) => (row.curve ? [{ ...row.curve, row }] : []));
  return [...Map.groupBy(points, ({ name, by }) => `${name}, by ${by}`)].map(([title, of]) => ({
    title,
    by: of[0]?.by ?? "",
    unit: of[0]?.row.unit ?? "per second",
    xs: [...new Set(of.map(({ x }) => x))].toSorted((a, b) => a - b),
    lines: [...Map.groupBy(of, ({ row }) => row.variant)].map(([variant, all]) => ({ variant, points: all })),
  }));
}

/** A column for each point. Below each variant's figures is what they are of the first one, and the CPU of a job. */
export function curveTable({ by, unit, xs, lines }: CurveOf, titles: Readonly<Record<string, string>>): string {
  const rows = lines.flatMap(({ variant, points }) => {
    const cells = (of: (row: Row) => string) =>
      xs.map((x) => {
        const point = points.find((one) => one.x === x);
        return point ? of(point.row) : "–";
      });
    const first = points.find(({ x }) => x === xs[0])?.row.median ?? NaN;
    const title = titles[variant] ?? variant;
    return [
      [`${title}, ${unit}`, ...cells(({ median }) => formatFigure(median, unit))],
      [`${title} ÷ the first`, ...cells(({ median }) => formatFigure(median / first, "×"))],
      [`${title}, CPU, µs a job`, ...cells(({ costs }) => (costs ? formatNumber(cpuOf(costs.median)) : "–"))],
    ];
  });
  return table([by, ...xs.map((x) => x.toLocaleString("en"))], rows, true);
}
