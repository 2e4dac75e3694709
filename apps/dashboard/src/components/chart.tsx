import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useStore } from "../lib/store.ts";
import { theme } from "../app/theme.ts";

const sparse_points = 3;
/** Beside the axis, and of a character there: what is written must fit. */
const [axis_px, char_px] = [14, 6.2];

/** Drawn in their order. A `wide` line is seen beneath another of the same values. */
type Line = { name: string; color: string; values: readonly (number | null)[]; fill?: boolean; wide?: boolean };
type Props = {
  label: string;
  at: readonly number[];
  lines: readonly Line[];
  write: (value: number) => string;
  steps?: readonly number[];
};

/** Lines over time; the last step, which is not over yet, is dashed. `steps` are the distances that lines across may have, such as whole minutes. The colours are names of tokens; the values under the pointer go into the legend. */
export default function Chart({ label, at, lines, write, steps }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot>(undefined);
  const chosen = useStore(theme);
  const names = lines.map(({ name, color }) => `${name} ${color}`).join();

  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const plot = new uPlot(optionsOf(element, lines, write, steps), dataOf(at, lines), element);
    drawn.current = plot;
    const fit = new ResizeObserver(() => plot.setSize(sizeOf(element)));
    fit.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => plot.redraw(false);
    dark.addEventListener("change", redraw);
    return () => {
      dark.removeEventListener("change", redraw);
      fit.disconnect();
      plot.destroy();
    };
    // New figures go into the same drawing, below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [names, chosen]);

  useEffect(() => drawn.current?.setData(dataOf(at, lines)), [at, lines]);

  return <div className="chart" ref={place} role="img" aria-label={label} />;
}

/** Each line without its last step, then the last steps alone. */
function dataOf(at: readonly number[], lines: readonly Line[]): uPlot.AlignedData {
  const last = at.length - 1;
  const over = lines.map(({ values }) => values.map((value, step) => (step < last || last === 0 ? value : null)));
  const open = lines.map(({ values }) => values.map((value, step) => (step < last - 1 ? null : value)));
  return [[...at], ...over, ...open];
}

function sizeOf(element: HTMLElement): { width: number; height: number } {
  return { width: Math.max(120, element.clientWidth), height: Math.max(80, element.clientHeight) };
}

function optionsOf(
  element: HTMLElement,
  lines: readonly Line[],
  write: Props["write"],
  steps: Props["steps"],
): uPlot.Options {
  const token = (name: string) => resolved(element, name);
  const font = `11px ${getComputedStyle(element).fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: () => token("--ink-3"),
    font,
    grid: { stroke: () => token("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    ...sizeOf(element),
    legend: { show: false },
    padding: [6, 20, 0, 0],
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.15 : 1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 24,
        values: (_plot, splits, _at, _space, step) => splits.map((at) => tick(at, step)),
      },
      {
        ...axis,
        size: (_plot, written: string[] | null) =>
          axis_px + char_px * Math.max(0, ...(written ?? []).map((each) => each.length)),
        space: 34,
        ...(steps ? { incrs: [...steps] } : {}),
        values: (_plot, splits) => splits.map(write),
      },
    ],
    series: [
      {},
      ...[false, true].flatMap((open) =>
        lines.map(({ name, color, fill, wide }) => ({
          label: name,
          ...(open ? { dash: [3, 4] } : {}),
          stroke: () => token(color),
          width: wide ? 5 : 1.6,
          // A line needs two ends; what stands alone is a point.
          points: { size: wide ? 10 : 5, show: (plot: uPlot, at: number) => !open && isSparse(plot.data[at]) },
          ...(fill ? { fill: () => `color-mix(in srgb, ${token(color)} 12%, transparent)` } : {}),
        })),
      ),
    ],
  };
}

const hours = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

function isSparse(values: uPlot.AlignedData[number] | undefined): boolean {
  return (values ?? []).filter((value) => value !== null).length < sparse_points;
}

/** The time below a line; the day, where the lines are days apart. */
function tick(at_seconds: number, step_seconds: number): string {
  return (step_seconds >= 86_400 ? days : hours).format(at_seconds * 1_000);
}

/** A token as a colour that a canvas understands: `light-dark()` is resolved by asking an element. */
function resolved(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const color = getComputedStyle(element).color;
  element.style.color = "";
  return color;
}
